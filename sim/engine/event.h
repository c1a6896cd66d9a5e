// What happens at a known time of a simulation.
#pragma once

#include <cstdint>
#include <tuple>

namespace slmsim {

// A task is done, or a computation that may have been slowed; a flow that nobody shares a link with has left; acknowledgements
// begin to reach the data that they wait behind, all have reached it, or bytes are acknowledged.
enum class EventKind : std::uint8_t { kTask, kComputed, kFlow, kAnswer, kAnswered, kAcknowledgement };

struct Event {
  double date = 0;          // of the clock
  std::uint32_t index = 0;  // task, channel, or answer
  EventKind kind = EventKind::kTask;
  double bytes = 0;  // acknowledged

  bool operator>(const Event& other) const {
    if (date != other.date) return date > other.date;
    return std::tie(kind, index) > std::tie(other.kind, other.index);
  }
};

}  // namespace slmsim
