// One iteration as bars over time: a row per GPU and per connection between VMs.
#pragma once

#include <string>

#include "sim/engine/simulate.h"
#include "sim/report/page/sections.h"
#include "sim/platform/platform.h"

namespace slmsim {

// HTML. Parts too close together to be seen are drawn as one; with many rows only the first are shown.
std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform);

// Timelines of an iteration of the pick, and of the best technique on most GPUs if the pick uses fewer; simulates both again.
std::string timelines_of(const ModelReport& report);

}  // namespace slmsim
