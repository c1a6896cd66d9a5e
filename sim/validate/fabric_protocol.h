// The FABRIC study by a protocol that cannot flatter: each slice is predicted by what the other four tell.
//
// Enters: the study's table and scenarios, of which only what the study publishes is used: GPUs, round trips, models. All that
// was inferred from its times is unknown again, with priors that were written down without them (fabric_priors). Leaves: for
// each slice, fitted to the four others: every cell of Table II without any run of the slice, and with one or two of its
// techniques as pilot runs; probabilities that models fit in memory; which alternatives of structure the runs speak for; and
// what `slmsim next` would have run, and picked, where the study's Algorithm 1 tries each technique.
#pragma once

#include <filesystem>
#include <functional>

#include "sim/fit/uncertainty.h"
#include "sim/validate/error_summary.h"
#include "sim/validate/fabric_slices.h"

namespace slmsim {

struct ProtocolOptions {
  std::size_t points = 256;  // of each fit
  std::size_t draws = 512;   // of what the slice left out has for itself, for each point
  std::uint64_t seed = 1;
  double level = 0.8;
  // How much was trained is no unknown: as the scenarios have it, which take it from published rates and times of the same runs.
  bool work_given = false;
  std::vector<std::string> slices;  // left out in turn; empty: all
  std::function<bool()> stop = {};
  std::function<void(const std::string&)> progress = {};
};

// A cell of Table II that the fit did not see.
struct HeldOut {
  std::string slice, technique;
  std::vector<std::string> pilots;  // techniques of the slice that were run before
  double measured = 0, predicted = 0;
  Interval interval;     // all in minutes
  double effective = 0;  // of the points, with these pilots

  double error() const { return predicted / measured - 1; }
  bool held() const { return interval.low <= measured && measured <= interval.high; }
};

struct HeldOutFit {
  FabricRow row;
  double probability = 0;  // that it fits
};

struct HeldOutChoice {
  std::string slice;  // that was left out
  Unknown unknown;
  std::vector<double> shares;  // of its words
};

// The pick for gpt2m by what next_run (sim/fit/next.h) asks for; results are the study's: of some runs it tells only whether
// they ran.
struct HeldOutPick {
  std::string slice, winner;  // the study's technique, on one VM
  Candidate pick;
  bool right = false, right_before = false;  // after and before any run: the winner's technique on one VM
  double probability = 0;                    // that it is right, by its own account
  std::vector<Candidate> runs;
  double gpu_minutes = 0, tried_gpu_minutes = 0;  // of these runs, and of Algorithm 1's; both as predicted
};

struct FabricProtocol {
  double level = 0.8;
  std::vector<HeldOut> cells;  // without, with one and with two pilot runs
  std::vector<HeldOutFit> fits;
  std::vector<HeldOutChoice> choices;
  std::vector<HeldOutPick> picks;
  struct Explained {
    std::vector<HeldOutFit> fits;
    std::vector<Judged> cells;  // of Table II, in minutes
  } explained;                  // fitted to all slices; empty where only some were left out
  std::size_t simulated = 0;
  double emulated_error = 0;  // of the worst figure that an emulator stood in for, as a share
  bool complete = true;
};

FabricProtocol validate_held_out(const std::filesystem::path& root, const std::filesystem::path& reference,
                                 const ProtocolOptions& options);

inline constexpr const char* kPicked = "gpt2m";  // the model that the study ran everywhere
HeldOutPick pick_by_pilots(const std::string& slice, const Scenario& scenario, const StudyRuns& rows,
                           Ensemble ensemble);

// What all slices share and what each has for itself, with priors that no run of the study has touched.
std::vector<Unknown> fabric_shared();
// `given`: the work as a share of the usual amount, where it is known.
std::vector<Unknown> fabric_own(const Scenario& slice, std::optional<double> given);

}  // namespace slmsim
