// Paths between a GPU and its host: connections of a graph for copies, and for the CPU's own memory traffic.
#pragma once

#include "sim/technique/common/lower.h"

namespace slmsim {

enum class HostPath { kToMemory, kFromMemory, kCpu };

// Opens a connection of this GPU: to or from the memory nearest to it, or that memory itself at the rate of one rank's
// CPU (Framework::cpu_adam_rate). The GPU's node must describe its inside.
int connect_host(TaskGraph& graph, const LowerRequest& request, int device, HostPath path);

}  // namespace slmsim
