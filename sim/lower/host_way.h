// The ways between a GPU and its host: connections of a graph that carry copies, and what the CPU moves of its memory.
#pragma once

#include "sim/lower/lower.h"

namespace slmsim {

enum class HostWay { kToMemory, kFromMemory, kCpu };

// A new connection of this GPU: to or from the memory nearest to it, or that memory itself at the rate that one rank's CPU
// reaches (Framework::cpu_adam_rate). The GPU's node describes its inside.
int connect_host(TaskGraph& graph, const LowerRequest& request, int device, HostWay way);

}  // namespace slmsim
