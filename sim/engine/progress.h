// Determines which tasks become ready as others end.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

class Progress {
 public:
  explicit Progress(const TaskGraph& graph) : first_(graph.tasks().size() + 1) {
    const auto count = static_cast<TaskId>(graph.tasks().size());
    waiting_for_.reserve(count);
    for (TaskId task = 0; task < count; ++task) {
      const auto before = graph.predecessors(task);
      waiting_for_.push_back(static_cast<std::uint32_t>(before.size()));
      for (const TaskId b : before) ++first_[b];
    }
    for (std::size_t i = 1; i <= count; ++i) first_[i] += first_[i - 1];
    successors_.resize(first_[count]);
    // From the ends of the tasks' ranges to their beginnings.
    for (TaskId task = count; task-- > 0;) {
      for (const TaskId b : graph.predecessors(task)) successors_[--first_[b]] = task;
    }
  }

  // Calls `ready` for each task whose last predecessor was this one, in the order of addition.
  template <class Ready>
  void done(TaskId task, Ready ready) {
    for (std::uint32_t i = first_[task]; i < first_[task + 1]; ++i) {
      if (--waiting_for_[successors_[i]] == 0) ready(successors_[i]);
    }
  }

 private:
  std::vector<std::uint32_t> waiting_for_, first_;  // successors of task t: from first_[t] on
  std::vector<TaskId> successors_;
};

}  // namespace slmsim
