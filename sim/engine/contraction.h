// A task graph reduced to the transfers that TCP's windows may limit: in graph theory, a contraction.
//
// All other tasks take as long in one iteration as in the next, whatever happens to the windows. What lies between two of those
// transfers is thus a constant, the longest path from one to the other, and thousands of tasks become a few hundred. Where
// segments are rarely lost, a job is simulated for many iterations: the first one gives the constants of the others.
#pragma once

#include <optional>

#include "sim/engine/simulate.h"

namespace slmsim {

// `observed`: an iteration of the graph. The result has the graph's connections, so that their states apply to both, and ends
// with it, up to rounding, from any state. Other transfers go in the order in which they were observed; where they and
// computations share links or multiprocessors with those that are left, they take as long as was observed. nullopt where the
// result would have more than a quarter of the graph's tasks.
std::optional<TaskGraph> contracted(const TaskGraph& graph, const Timeline& observed);

}  // namespace slmsim
