// Options that ask a verb for intervals.
#pragma once

#include "sim/cli/scenarios.h"
#include "sim/run/intervals.h"

namespace slmsim {

// --fitted, --intervals, --level and --seed.
void add_interval_options(CLI::App& verb, IntervalRequest& options);

// Throws InputError where the options do not go together, or the fit is none; tells on standard error where that is stale.
Intervals intervals_of(const IntervalRequest& request, const ScenarioOptions& options);

}  // namespace slmsim
