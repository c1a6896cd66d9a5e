// Tasks of a stage's pass over its segments, which those of further micro-batches repeat.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

struct MadePass {
  TaskId first = kNoTask, end = kNoTask;
  std::vector<TaskId> before;        // what its ranks waited for: their last tasks, their hosts' and the inputs, if any
  std::vector<TaskId> after, hosts;  // their last tasks and their hosts'

  // Adds the tasks again, waiting for these. Returns their distance; nothing where the pass cannot be repeated so.
  std::optional<TaskId> add_again(TaskGraph& graph, const std::vector<TaskId>& now) const {
    if (first == kNoTask || before.size() != now.size()) return std::nullopt;
    std::vector<std::pair<TaskId, TaskId>> instead;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto differs = [&](const auto& one) { return one.first == before[i] && one.second != now[i]; };
      if ((before[i] == kNoTask) != (now[i] == kNoTask) || std::any_of(instead.begin(), instead.end(), differs))
        return std::nullopt;
      instead.emplace_back(before[i], now[i]);
    }
    return graph.add_again(first, end, instead);
  }
};

}  // namespace slmsim
