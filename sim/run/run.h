// A scenario with predictions and picks, as `slmsim run`, `slmsim report` and `slmsim serve` show it.
#pragma once

#include "sim/report/report.h"

namespace slmsim {

// Predictions, whole jobs where the scenario has a `job`, and the picks of both forms of Algorithm 1: the scenario's and the
// other one.
RunResult run_scenario(Scenario scenario, const PredictOptions& options);

// Whether link use is measured. It needs a simulation of every GPU, and a list of the links of more than kMostListedGpus is of
// little use, so there it must be requested (`asked`); a bill of egress always needs the links' bytes.
inline constexpr std::size_t kMostListedGpus = 64;
bool measures_links(const Scenario& scenario, bool wanted, bool asked);

// Options of `slmsim run --format json` for a scenario.
PredictOptions json_options(const Scenario& scenario);

}  // namespace slmsim
