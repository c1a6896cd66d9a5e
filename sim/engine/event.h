// What happens at a known time while a graph runs, the earliest first.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace slmsim {

struct Event {
  // A task is done, or a computation that may have been slowed; a flow that nobody shares a link with has left; acknowledgements
  // have come to the data that they wait behind, or are back.
  enum class Kind : std::uint8_t { kTask, kComputed, kFlow, kAnswered, kAcknowledgement };

  double date = 0;          // of the clock
  std::uint32_t index = 0;  // task, channel, or answer
  Kind kind = Kind::kTask;

  // By date, kind and index, as one number: many dates are equal, and a processor that guesses which is wrong half of the time.
  bool operator>(const Event& other) const { return key() > other.key(); }

 private:
  __extension__ using Key = unsigned __int128;
  Key key() const {  // of dates that are not negative bits have the same order
    return Key{std::bit_cast<std::uint64_t>(date)} << 64 | static_cast<std::uint64_t>(kind) << 32 | index;
  }
};

using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

}  // namespace slmsim
