// The links between sites over a day, as a scenario's job.links states them, and an iteration in which they change.
#pragma once

#include <vector>

#include "sim/engine/simulate.h"
#include "sim/engine/task_graph.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

struct LinkState {
  Seconds from;                // time of the day; until the next state
  std::vector<WanLink> links;  // all links of the platform
};

// By time, the first from 0 on; values that are not stated come from the platform. Without job.links, the platform's state
// alone.
std::vector<LinkState> link_states(const Scenario& scenario);

// An iteration in which the links between sites change.
//
// Until then it is simulated with the old links; the rest, task by task and byte by byte, with the new ones. Connections keep
// their windows: those that have sent keep the window at the iteration's end, the others the one before it. Bytes in flight
// arrive as they would have.

// Length of an iteration with the change `when` after its beginning. `before`: connections at its beginning.
Seconds time_across(const TaskGraph& graph, const Network& after, const std::vector<ConnectionState>& before,
                    Seconds when);

// By how much an iteration with a change in it is longer than one that proceeds at the old rate until the change and at the new
// one after it, in shares of the iteration: mean over this many changes, evenly spread over it. `first`, `second`: the
// iteration with the old and with the new links.
Seconds excess_of_change(const TaskGraph& graph, const Network& after, const std::vector<ConnectionState>& before,
                         Seconds first, Seconds second, int times = 8);

}  // namespace slmsim
