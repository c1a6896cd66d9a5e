// What happens at a known time while a graph runs, the earliest first.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace slmsim {

struct Event {
  // A task is done, or a computation that may have been slowed; a flow that nobody shares a link with has left; acknowledgements
  // have come to the data that they wait behind, or are back.
  enum class Kind : std::uint8_t { kTask, kComputed, kFlow, kAnswered, kAcknowledgement };

  double date = 0;          // of the clock
  std::uint32_t index = 0;  // task, channel, or answer
  Kind kind = Kind::kTask;

  bool operator>(const Event& other) const {
    if (date != other.date) return date > other.date;
    return std::tie(kind, index) > std::tie(other.kind, other.index);
  }
};

using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

}  // namespace slmsim
