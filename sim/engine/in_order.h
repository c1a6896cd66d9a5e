// The same simulation without a queue of events, where nobody shares a link, no acknowledgement waits behind data, and
// every connection's transfers become ready in the order in which they were added, as a ring's do, and what NCCL's kernels
// hold of a GPU is added before what is sent after the computation beside them: then each task's times follow from those of earlier tasks and of
// its own connection alone, and tasks can be gone through one by one.
#pragma once

#include <optional>

#include "sim/engine/simulate.h"

namespace slmsim {

// To the last bit what simulate() gives by events; nothing where the above does not hold, which shows on the way.
// Records no flows.
std::optional<Timeline> simulate_in_order(const TaskGraph& graph, const std::vector<ConnectionState>& before);

}  // namespace slmsim
