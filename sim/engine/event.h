// Events of known date while a graph runs, ordered by date.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace slmsim {

struct Event {
  // End of a task, or of a computation that may have been slowed; end of a flow on unshared links; arrival of
  // acknowledgements behind queued data, and their return.
  enum class Kind : std::uint8_t { kTask, kComputed, kFlow, kAnswered, kAcknowledgement };

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

}  // namespace slmsim
