// Points that stand for a posterior, or for a prior where nothing was measured: what predictions with intervals begin with.
//
// They are equally likely and in order along the direction in which they differ most, so that every so many-th of them stands
// for all. As a file (slmsim fit writes it: a YAML map of schema slmsim/fitted/2) they are readable: of each unknown its value
// and interval, what was measured and how well it is met, and each point's values.
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
  Overrides centre;                   // values of the point that is nearest to all others
  std::vector<std::string> unknowns;  // "training.batch: 4 or 8 or 16"
  std::string fitted_to;              // the file of runs; empty: to nothing
  std::vector<Pilot> runs = {};       // that it was fitted to
};

// At most so many of the posterior's points.
Draws draws_of(const Posterior& posterior, std::size_t most);

// One figure that was measured, and what the fit makes of it.
struct Residual {
  Pilot pilot;
  double predicted = 0, low = 0, high = 0;  // at the centre, and 80 % interval
};

struct FitReport {
  std::string scenario, identity, measured;  // its name, of which files (identity_of), the file of runs
  std::uint64_t seed = 0;
  Posterior posterior;
  std::vector<Residual> residuals;
};

std::string to_yaml(const FitReport& report);

// Throws InputError where it is no such file. `identity` of the scenario that it is used for: `stale` is told where it was
// fitted to other files.
Draws read_fitted(const std::filesystem::path& file, const std::string& identity, bool& stale);

// Of a scenario's files: changes with any of them.
std::string identity_of(const ScenarioFile& file);

}  // namespace slmsim
