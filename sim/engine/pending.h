// What waits while a graph runs: events of known date, ordered by date, and tasks until others end.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

struct Event {
  // End of a task, or of a computation that may have been slowed; end of a flow on unshared links; arrival of
  // acknowledgements behind queued data, and their return.
  enum class Kind : std::uint8_t { kTask, kComputed, kFlow, kAnswered, kAcknowledgement };

  double date = 0;          // of the clock
  std::uint32_t index = 0;  // task, channel, or answer
  Kind kind = Kind::kTask;

  // Date, kind and index as one number, in the order of events: many dates are equal, and branches on them would be
  // mispredicted half of the time. Non-negative dates have the same order as their bits.
  __extension__ using Key = unsigned __int128;
  Key key() const {
    return Key{std::bit_cast<std::uint64_t>(date)} << 64 | static_cast<std::uint64_t>(kind) << 32 | index;
  }
  static Event of(Key key) {
    return {std::bit_cast<double>(static_cast<std::uint64_t>(key >> 64)), static_cast<std::uint32_t>(key),
            static_cast<Kind>(static_cast<std::uint32_t>(key >> 32))};
  }
};

// A heap of events, the earliest first. Most events cause another one, which takes the place of the one that was taken last:
// one walk down the heap in place of two.
class Events {
 public:
  bool empty() const { return keys_.size() == (has_gap_ ? 1 : 0); }
  // The earliest; there must be one.
  Event top() {
    fill_gap();
    return Event::of(keys_.front());
  }
  Event take() {
    const Event first = top();
    has_gap_ = true;
    return first;
  }
  void push(const Event& event) {
    const Event::Key key = event.key();
    if (std::exchange(has_gap_, false)) return sink(key);
    std::size_t at = keys_.size();
    keys_.push_back(key);
    for (; at > 0 && key < keys_[(at - 1) / 2]; at = (at - 1) / 2) keys_[at] = keys_[(at - 1) / 2];
    keys_[at] = key;
  }

 private:
  void fill_gap() {
    if (!std::exchange(has_gap_, false)) return;
    const Event::Key last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) sink(last);
  }
  // From the top, which is free.
  void sink(Event::Key key) {
    const std::size_t count = keys_.size();
    std::size_t at = 0;
    for (std::size_t below = 1; below < count; below = 2 * at + 1) {
      if (below + 1 < count) below += keys_[below + 1] < keys_[below] ? 1 : 0;
      if (key <= keys_[below]) break;
      keys_[at] = keys_[below];
      at = below;
    }
    keys_[at] = key;
  }

  std::vector<Event::Key> keys_;
  bool has_gap_ = false;  // the first was taken
};

// The tasks that wait for each task, for every simulation of a graph.
class Successors {
 public:
  explicit Successors(const TaskGraph& graph) : first_(graph.tasks().size() + 1) {
    const auto count = static_cast<TaskId>(graph.tasks().size());
    waits_for_.reserve(count);
    for (TaskId task = 0; task < count; ++task) {
      const auto before = graph.predecessors(task);
      waits_for_.push_back(static_cast<std::uint32_t>(before.size()));
      for (const TaskId b : before) ++first_[b];
    }
    for (std::size_t i = 1; i <= count; ++i) first_[i] += first_[i - 1];
    all_.resize(first_[count]);
    // From the ends of the tasks' ranges to their beginnings.
    for (TaskId task = count; task-- > 0;) {
      for (const TaskId b : graph.predecessors(task)) all_[--first_[b]] = task;
    }
  }

  // Number of predecessors, per task.
  const std::vector<std::uint32_t>& waits_for() const { return waits_for_; }
  std::span<const TaskId> of(TaskId task) const {
    return {all_.data() + first_[task], first_[task + 1] - first_[task]};
  }

 private:
  std::vector<std::uint32_t> waits_for_, first_;  // successors of task t: from first_[t] on
  std::vector<TaskId> all_;
};

class Progress {
 public:
  explicit Progress(const Successors& successors) : successors_(successors), waiting_for_(successors.waits_for()) {}

  // Calls `ready` for each task whose last predecessor was this one, in the order of addition.
  template <class Ready>
  void done(TaskId task, Ready ready) {
    for (const TaskId next : successors_.of(task)) {
      if (--waiting_for_[next] == 0) ready(next);
    }
  }

 private:
  const Successors& successors_;
  std::vector<std::uint32_t> waiting_for_;
};

}  // namespace slmsim
