// What waits while a graph runs: events of known date, ordered by date, and tasks until others end.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

struct Event {
  // End of a task, or of a computation that may have been slowed; end of a flow on unshared links; arrival of
  // acknowledgements behind queued data, and their return.
  // As large as the index: an event is then copied in one piece, without a gap at its end.
  enum class Kind : std::uint32_t { kTask, kComputed, kFlow, kAnswered, kAcknowledgement };

  double date = 0;          // of the clock
  std::uint32_t index = 0;  // task, channel, or answer
  Kind kind = Kind::kTask;

  // By date, kind and index, as one number: many dates are equal, and branches on them would be mispredicted half of
  // the time.
  bool operator>(const Event& other) const { return key() > other.key(); }

 private:
  __extension__ using Key = unsigned __int128;
  Key key() const {  // non-negative dates have the same order as their bits
    return Key{std::bit_cast<std::uint64_t>(date)} << 64 | static_cast<std::uint64_t>(kind) << 32 | index;
  }
};

using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

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
