// Options of a verb for intervals.
#pragma once

#include "sim/cli/scenarios.h"
#include "sim/fit/intervals.h"

namespace slmsim {

// --fitted, --intervals, --level and --seed.
void add_interval_options(CLI::App& verb, IntervalRequest& options);

// Throws InputError where the options contradict each other, or the fit is invalid; a warning on standard error where the fit
// is stale.
Intervals intervals_of(const IntervalRequest& request, const ScenarioOptions& options);

}  // namespace slmsim
