// One iteration as bars over time: a row per GPU and per connection between VMs.
#pragma once

#include <string>

#include "sim/engine/simulate.h"
#include "sim/page/sections.h"
#include "sim/platform/platform.h"

namespace slmsim {

// HTML. What lies closer together than can be seen is drawn as one; of many rows the first are shown.
std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform);

// Of an iteration of the pick, and of the best technique on most GPUs if the pick uses fewer; simulates both anew.
std::string timelines_of(const ModelReport& report);

}  // namespace slmsim
