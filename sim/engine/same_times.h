// Which tasks of a graph take place at the same times, whatever these are: of several, one needs to be simulated.
//
// Where tasks are gone through in their order (in_order.h), when a task begins and ends follows from its amount, from when the
// tasks before it end, and of a transfer also from what its connection carried before. So tasks are alike whose amounts are equal,
// which wait for tasks that are alike, and, of transfers, whose connections began alike and have carried the same so far. Tasks
// are numbered by that, each after those that it waits for, as compilers number values to find those that are computed twice
// (Alpern, Wegman and Zadeck, POPL 1988). Nothing is assumed of rings or replicas: in a ring over two equal sites half of the
// transfers are found to be the others' twins.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

struct SameTimes {
  // A step that another one waits for.
  struct Before {
    std::uint32_t step = 0;
    bool several = false;  // it waits for several tasks of that step
    // Of transfers: the one before it on its connection waits for the same task; or is that task, where it takes place several
    // times in a row.
    bool tied = false;

    bool operator==(const Before&) const = default;
  };

  // Tasks that are alike are one step; steps are in the order of their first tasks.
  std::vector<std::uint32_t> step_of;  // of each task; empty: each task is a step
  std::vector<TaskId> first;           // of each step, its first task
  std::vector<std::uint32_t> begin;    // of each step, and the end of the last one: places in `before`
  std::vector<Before> before;
  // Of each connection: those that carry the same at the same times have one number, from 0 on, and begin alike.
  std::vector<int> line_of;
  int lines = 0;
};

// `alike`: connections that begin alike have one number, from 0 on.
SameTimes same_times(const TaskGraph& graph, const std::vector<int>& alike);
// Whether tasks that were alike take as long as each other still, after some were given other times.
bool are_alike(const TaskGraph& graph, const SameTimes& known);
// Each task is a step, and each connection a line.
SameTimes each_by_itself(const TaskGraph& graph);

}  // namespace slmsim
