// A scenario predicted and decided, as `slmsim run`, `slmsim report` and `slmsim serve` show it.
#pragma once

#include "sim/report/report.h"

namespace slmsim {

// Predictions, whole jobs where the scenario has a `job`, and the picks of Algorithm 1 as the scenario asks for it and in its
// other form.
RunResult run_scenario(Scenario scenario, const PredictOptions& options);

// What is measured of links. Nobody reads a list of those of more than kMostNamedGpus GPUs, so that `asked` must say that
// somebody does; a bill of egress counts their bytes in any case.
bool measures_links(const Scenario& scenario, bool wanted, bool asked);

// What `slmsim run --format json` predicts of a scenario.
PredictOptions json_options(const Scenario& scenario);

}  // namespace slmsim
