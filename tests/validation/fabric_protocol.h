// The FABRIC study by leave-one-out: each slice is predicted from a fit to the other four.
//
// Input: the study's table and scenarios, with published values only: GPUs, round trips, models. All values inferred from its
// times are unknown again, with priors written down without them (fabric_priors). Output for each slice, from the fit to the
// four others: every cell of Table II without any run of the slice, and with one or two of its techniques as pilot runs;
// probabilities that models fit in memory; the alternatives of structure that the runs favour; and the runs that `slmsim next`
// would suggest, and its pick, where the study's Algorithm 1 tries each technique.
#pragma once

#include <filesystem>
#include <functional>

#include "sim/fit/measured_step.h"
#include "sim/fit/uncertainty.h"
#include "tests/validation/fabric_slices.h"

namespace slmsim {

struct ProtocolOptions {
  std::size_t points = 256;  // per fit
  std::size_t draws = 512;   // of the left-out slice's own values, per point
  std::uint64_t seed = 1;
  double level = 0.8;
  // The amount of training is given: as in the scenarios, which take it from published rates and times of the same runs.
  bool work_given = false;
  std::vector<std::string> slices;  // slices to leave out in turn; empty: all
  std::function<bool()> stop = {};
  std::function<void(const std::string&)> progress = {};
};

// A cell of Table II that the fit excludes.
struct HeldOutCell {
  std::string slice, technique;
  std::vector<std::string> pilots;  // techniques of the slice that are pilot runs
  double measured = 0, predicted = 0;
  Interval interval;     // all in minutes
  double effective = 0;  // effective number of points with these pilots

  double error() const { return predicted / measured - 1; }
  bool held() const { return interval.low <= measured && measured <= interval.high; }
};

struct HeldOutFit {
  FabricRow row;
  double probability = 0;  // that it fits
};

struct HeldOutChoice {
  std::string slice;  // the one left out
  Unknown unknown;
  std::vector<double> shares;  // probability of each word
};

// The pick for gpt2m after the runs that next_run (sim/fit/next.h) suggests; results are the study's: for some runs it
// publishes only whether they ran.
struct HeldOutPick {
  std::string slice, winner;  // the study's technique, on one VM
  Candidate pick;
  bool right = false, right_before = false;  // after and before any run: the winner's technique on one VM
  double probability = 0;                    // the pick's own probability of being right
  std::vector<Candidate> runs;
  double gpu_minutes = 0, tried_gpu_minutes = 0;  // of these runs, and of Algorithm 1's; both predicted
};

struct FabricProtocol {
  double level = 0.8;
  std::vector<HeldOutCell> cells;  // without, with one and with two pilot runs
  std::vector<HeldOutFit> fits;
  std::vector<HeldOutChoice> choices;
  std::vector<HeldOutPick> picks;
  struct FullFit {
    std::vector<HeldOutFit> fits;
    std::vector<Comparison> cells;  // of Table II, in minutes
  } explained;                      // fitted to all slices; empty where only some were left out
  std::size_t simulated = 0;
  double emulated_error = 0;  // largest relative error of an emulated figure
  bool complete = true;
};

FabricProtocol validate_held_out(const std::filesystem::path& root, const std::filesystem::path& reference,
                                 const ProtocolOptions& options);

inline constexpr const char* kPicked = "gpt2m";  // the model that the study ran everywhere
HeldOutPick pick_by_pilots(const std::string& slice, const Scenario& scenario, const StudyRuns& rows,
                           Ensemble ensemble);

// Unknowns that all slices share, and those of each slice, with priors independent of the study's runs.
std::vector<Unknown> fabric_shared();
// `given`: the work as a share of the usual amount, where it is known.
std::vector<Unknown> fabric_own(const Scenario& slice, std::optional<double> given);

}  // namespace slmsim
