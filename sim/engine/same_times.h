// Classes of tasks that take place at equal times; one task of each class needs to be simulated.
//
// With tasks processed in order (in_order.h), a task's start and end follow from its amount, the ends of its
// predecessors and, for a transfer, the earlier transfers of its connection. Tasks are therefore equal if their amounts
// are equal, their predecessors are equal and, for transfers, their connections began equal and have carried the same
// so far. Tasks are numbered accordingly, each after its predecessors, as in value numbering by compilers (Alpern,
// Wegman and Zadeck, POPL 1988). No structure of rings or replicas is assumed: in a ring over two equal sites, half of
// the transfers are found to equal the other half.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

struct SameTimes {
  // A step before another one.
  struct Predecessor {
    std::uint32_t step = 0;
    bool several = false;  // several tasks of that step are predecessors
    // For transfers: the one before it on its connection waits for one of these tasks too; or is that task, if it is
    // repeated.
    bool tied = false;

    bool operator==(const Predecessor&) const = default;
  };

  // Equal tasks form one step; steps are in the order of their first tasks.
  std::vector<std::uint32_t> step_of;  // per task; empty: each task is a step
  std::vector<TaskId> first;           // per step, its first task
  std::vector<std::uint32_t> begin;    // per step, and the end of the last one: positions in `before`
  std::vector<Predecessor> before;
  // Per connection: connections with equal transfers at equal times have one number, from 0 on, and begin equal.
  std::vector<int> line_of;
  int lines = 0;
};

// `alike`: connections with equal initial state have one number, from 0 on.
SameTimes same_times(const TaskGraph& graph, const std::vector<int>& alike);
// Whether tasks that were equal still have equal times after some times were changed.
bool are_alike(const TaskGraph& graph, const SameTimes& known);
// Each task is a step, and each connection a line.
SameTimes each_by_itself(const TaskGraph& graph);

}  // namespace slmsim
