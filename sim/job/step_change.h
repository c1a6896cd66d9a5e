// An iteration in which the links between sites change.
//
// Until then it is simulated with the links as they were; what is left of it, task by task and byte by byte, with the links as
// they are from then on. Connections go on with their windows: one that has sent with what it had at the iteration's end, one
// that has not with what it had before. Bytes that are on their way arrive as they would have.
#pragma once

#include <vector>

#include "sim/engine/simulate.h"
#include "sim/graph/task_graph.h"

namespace slmsim {

// From its beginning to its end, where the change comes `when` after the beginning. `before`: connections at its beginning.
Seconds time_across(const TaskGraph& graph, const Network& after, const std::vector<ConnectionState>& before,
                    Seconds when);

// By how much an iteration with a change in it is longer than if it went at the one rate until the change and at the other
// from then on, in shares of the iteration: mean over changes at this many times, evenly over it. `first`, `second`: the
// iteration with the links as they were, and as they are.
Seconds excess_of_change(const TaskGraph& graph, const Network& after, const std::vector<ConnectionState>& before,
                         Seconds first, Seconds second, int times = 8);

}  // namespace slmsim
