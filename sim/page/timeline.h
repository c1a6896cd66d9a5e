// One iteration as bars over time: a row per GPU and per connection between VMs.
#pragma once

#include <string>

#include "sim/engine/simulate.h"
#include "sim/platform/platform.h"

namespace slmsim {

// HTML. What lies closer together than can be seen is drawn as one; of many rows the first are shown.
std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform);

}  // namespace slmsim
