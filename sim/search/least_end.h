// Times that no simulation of a plan goes below: they rule choices out before anything is simulated.
#pragma once

#include "sim/lower/lower.h"

namespace slmsim {

// Of a task graph: the longest way through its tasks with every transfer alone on its path, and the bytes of each link at its
// bandwidth. A transfer of B bytes with window W takes at least ceil(B / W) - 1 round trips, whatever the connection's state.
Seconds least_end(const TaskGraph& graph);

// Of an iteration of the plan, whatever its micro-batches, and about how many tasks simulating it goes through.
//
// Where many micro-batches follow one another (sim/predict/repeating.h) two graphs of few are made, of m and of m + r. A task
// u in the midst of a line of the second (a stream, a host, a connection) has a like one a round later, and with l the longest
// way from u to that one, to the end of an iteration of M it is at least
//   (longest way to u) + (M - m - r) / r * l + (longest way from u)
// as so many more micro-batches between them lengthen the way. The bound is the greatest of these, for lines that the longest
// way of all leads through and those streams that compute longest, of least_end, and of the bytes of each link.
struct LeastIteration {
  Seconds end;
  double tasks = 0;
};
LeastIteration least_iteration(const LowerRequest& request);

}  // namespace slmsim
