// Lower bounds of a plan's simulated time: they rule choices out before anything is simulated.
#pragma once

#include "sim/technique/common/lower.h"

namespace slmsim {

// For a task graph: the longest path through its tasks with every transfer alone on its path, and the bytes of each link at its
// bandwidth. A transfer of B bytes with window W takes at least ceil(B / W) - 1 round trips, whatever the connection's state.
Seconds least_end(const TaskGraph& graph);

// For an iteration of the plan with any number of micro-batches; also the approximate number of tasks in a simulation.
//
// Where many micro-batches follow one another (sim/predict/repeating.h) two graphs of few are made, of m and of m + r. A task u
// in the middle of a line of the second (a stream, a host, a connection) has a counterpart one round later, and with l the
// longest path from u to that one, an iteration of M takes at least
//   (longest way to u) + (M - m - r) / r * l + (longest way from u)
// because the additional micro-batches between them lengthen the path. The bound is the largest of these, for lines on the
// critical path and the streams that compute longest, of least_end, and of the bytes of each link.
struct LeastIteration {
  Seconds end;
  double tasks = 0;
};
LeastIteration least_iteration(const LowerRequest& request);

}  // namespace slmsim
