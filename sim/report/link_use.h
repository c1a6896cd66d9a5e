// Use of nodes' interconnects: a table, and their rates over an iteration as CSV for plots. Used by `slmsim run --link-use` and
// `--timeline`.
#pragma once

#include <string>
#include <vector>

#include "sim/report/report.h"

namespace slmsim {

// GB/s of both directions together, per node: average, 90th percentile by time, peak, and the data sheet's figure.
std::string to_link_use_table(const std::vector<RunResult>& results);

// scenario,model,technique,group,node,interconnect,time_s,rate_Bps: a rate applies from its time until the next one.
std::string to_timeline_csv(const std::vector<RunResult>& results);

}  // namespace slmsim
