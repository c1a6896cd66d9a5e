// Passages (sim/engine/passage.h) after a simulation: whether they took place as was assumed, and what took place inside.
#pragma once

#include <map>
#include <set>

#include "sim/engine/simulate.h"

namespace slmsim {

// GPUs whose passages do not hold: they did not begin one at once, within rounding, or something else crossed their links
// meanwhile; and those whose repeated steps are not as long as the one before, or whose hosts fall behind. If there are any, the timeline is of no use.
std::set<int> out_of_step(const TaskGraph& graph, const Timeline& timeline);

// When a passage's GPUs begin it, and their hosts are free.
struct PassageBegin {
  double gpu = 0, host = 0;  // s
};
PassageBegin begin_of(const Passage& passage, const Timeline& timeline);

// Calls `use(passage, transfer, connection)` for each transfer inside a passage; `connection`: of the graph.
template <class Use>
void each_inner_transfer(const TaskGraph& graph, Use use) {
  for (const Passage& passage : graph.passages()) {
    if (!passage.exchangers) continue;
    for (const Inside::Transfer& one : passage.inside->transfers) {
      const int connection = passage.exchangers->connections[one.connection];
      if (connection != Exchangers::kRepeated) use(passage, one, connection);
    }
  }
}

// How long the step before repeated ones took, in seconds; the same per device.
double step_length(const RepeatedSteps& steps, const Timeline& timeline);
std::map<int, Seconds> length_of_steps(const TaskGraph& graph, const Timeline& timeline);

// Adds the flows inside passages and of repeated steps, for the use of links.
void add_inner_flows(const TaskGraph& graph, Timeline& timeline);

}  // namespace slmsim
