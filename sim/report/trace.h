// One iteration as a Chrome trace (JSON of the "Trace Event Format"), for chrome://tracing and
// ui.perfetto.dev.
#pragma once

#include <string>

#include "sim/engine/simulate.h"
#include "sim/platform/platform.h"

namespace slmsim {

// One track per GPU stream and one per connection; times in microseconds. Transfers of one connection run one
// after the other, so that a track's events do not overlap; a transfer ends here when its last byte leaves.
std::string to_trace(const TaskGraph& graph, const Timeline& timeline, const Platform& platform);

}  // namespace slmsim
