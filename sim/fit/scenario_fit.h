// The fit of one scenario, from its files to the report: the work of slmsim fit.
#pragma once

#include "sim/fit/draws.h"

namespace slmsim {

struct ScenarioFit {
  std::filesystem::path file;
  Overrides overrides;
  std::filesystem::path measured;  // a table of runs (pilot.h)
  Sampling sampling;
};

// Throws InputError with all errors.
FitReport fit_scenario(const ScenarioFit& request);

// A scenario from its files and overrides, and the tree that it was read from.
struct LinkedScenario {
  ScenarioFile file;
  Node linked;
  Scenario scenario;
};
LinkedScenario link_scenario(ScenarioFile file, const Overrides& overrides);
LinkedScenario link_scenario(const std::filesystem::path& file, const Overrides& overrides);

}  // namespace slmsim
