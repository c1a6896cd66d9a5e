// What simulate() keeps of each connection while its graph runs, and of acknowledgements on their way.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/capacity.h"
#include "sim/engine/link_queues.h"
#include "sim/engine/returns.h"
#include "sim/engine/simulate.h"

namespace slmsim {

// Bytes are those of all its sockets.
struct Channel {
  const Connection* connection = nullptr;
  Capacity limits;
  int cap = -1;                           // the engine's rate cap for the most that it can carry
  TaskId head = kNoTask, tail = kNoTask;  // transfers waiting or under way, linked through Run::next_
  double remaining = 0;                   // of the transfer at the head
  bool flowing = false;
  double flow_start = 0, flow_bytes = 0;
  double flow_end = 0;  // without the engine
  double flow_left = 0, flow_seen = 0,
         flow_rate = 0;             // of one that shares links: bytes at that time, and its rate since
  double flow_recorded = 0;         // bytes
  std::optional<TcpSender> sender;  // where a window may bind
  double last_sent = -INFINITY;
  Returns returns;

  void settle(double now) {
    returns.settle(now, [this](double bytes, double date) { sender->acknowledged(bytes, date); });
  }

  // For the next iteration, after one that ends then.
  ConnectionState state_after(Seconds end) {
    if (!std::isfinite(last_sent) || !sender) return {};
    settle(end.value);
    ConnectionState state{sender->state(end.value), end - Seconds{last_sent}, {}};
    for (const auto& [date, bytes] : returns) state.on_the_way.push_back({Seconds{date} - end, bytes});
    return state;
  }
};

// Acknowledgements that come to a full link over a while, and would be back at `due` if nothing were queued there.
struct Answer {
  std::uint32_t channel = 0;
  double bytes = 0, begin = 0, end = 0, due = 0;  // s of this run
};

class Answers {
 public:
  std::uint32_t add(const Answer& answer) {
    if (free_.empty()) {
      all_.push_back(answer);
      return static_cast<std::uint32_t>(all_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    all_[place] = answer;
    return place;
  }
  Answer& operator[](std::uint32_t place) { return all_[place]; }
  void free(std::uint32_t place) { free_.push_back(place); }

 private:
  std::vector<Answer> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace slmsim
