// The critical path: the chain of tasks that an iteration's end waited for, and the latencies on it.
#pragma once

#include <vector>

#include "sim/engine/simulate.h"

namespace slmsim {

// From the first task to the one that finished last: each began when the one before it was done, or when that one's last byte
// left the connection that both use.
std::vector<TaskId> critical_path(const TaskGraph& graph, const Timeline& timeline);

// Latencies of transfers on the path whose arrival the next task waited for.
struct PathLatencies {
  int between_vms = 0, inside_vms = 0;
  Seconds sum;
};
PathLatencies latencies_of(const TaskGraph& graph, const Timeline& timeline, const std::vector<TaskId>& path);

}  // namespace slmsim
