// Points that represent a posterior, or a prior where nothing is measured: the input of predictions with intervals.
//
// They are equally likely and ordered along the direction in which they differ most, so that every n-th of them represents all.
// As a file (slmsim fit writes it: a YAML map of schema slmsim/fitted/2) they are readable: each unknown with its value and
// interval, the measured figures with their residuals, and each point's values.
#pragma once

#include <filesystem>

#include "sim/fit/fit.h"

namespace slmsim {

struct Draw {
  Overrides overrides;
  Discrepancy discrepancy;
};

struct Draws {
  std::vector<Draw> points;
  Overrides centre;                   // the median of each unknown, the likeliest of choices
  std::vector<std::string> unknowns;  // "training.batch: 4 or 8 or 16"
  std::string fitted_to;              // the file of runs; empty: not fitted
  std::vector<Pilot> runs = {};       // the runs it was fitted to, and their figures at the centre
  std::vector<double> runs_at_centre = {};
  std::vector<std::string> remarks = {};  // on the fit: that it was stopped, or which runs contradict it
};

// Points of a fit at which runs are predicted, by the fit's own table and by `run --fitted` alike.
inline constexpr std::size_t kFittedPoints = 16;

// At most `most` of the posterior's points.
Draws draws_of(const Posterior& posterior, std::size_t most);

// The fit's runs that stand for the scenario that is predicted: whose figures at the centre are there those of the fitted scenario,
// within a run's noise. `centre`: forecasts of these cells. `remarks`: the fit's, and one on the others.
struct StandingRuns {
  std::vector<Pilot> runs;
  std::vector<std::string> remarks;
};
StandingRuns standing_runs(const Draws& draws, const std::vector<Candidate>& cells,
                           const std::vector<Forecast>& centre);

// One measured figure, and the fit's prediction of it.
struct Residual {
  Pilot pilot;
  double predicted = 0, low = 0, high = 0;  // median and 80 % interval of kFittedPoints points
  double centre = 0;                        // predicted at the centre

  bool is_met() const;
};

struct FitReport {
  std::string scenario, identity, measured;  // its name, the hash of its files (identity_of), the file of runs
  std::uint64_t seed = 0;
  Posterior posterior;
  std::vector<Residual> residuals;
};

std::string to_yaml(const FitReport& report);

// Throws InputError where the file is not a fit. `identity`: that of the scenario it is used for; `stale` is set where the fit
// belongs to other files.
Draws read_fitted(const std::filesystem::path& file, const std::string& identity, bool& stale);

// Hash of a scenario's files: changes with any of them.
std::string identity_of(const ScenarioFile& file);

}  // namespace slmsim
