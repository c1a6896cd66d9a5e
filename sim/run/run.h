// A scenario predicted and decided, as `slmsim run`, `slmsim report` and `slmsim serve` show it.
#pragma once

#include "sim/report/report.h"

namespace slmsim {

// Predictions, whole jobs where the scenario has a `job`, and the picks of Algorithm 1 as the scenario asks for it and in its
// other form.
RunResult run_scenario(Scenario scenario, const PredictOptions& options);

// What is measured of links. It takes a simulation of every GPU, and nobody reads a list of the links of more than
// kMostListedGpus, so that `asked` must say that somebody does; a bill of egress counts their bytes in any case.
inline constexpr std::size_t kMostListedGpus = 64;
bool measures_links(const Scenario& scenario, bool wanted, bool asked);

// What `slmsim run --format json` predicts of a scenario.
PredictOptions json_options(const Scenario& scenario);

}  // namespace slmsim
