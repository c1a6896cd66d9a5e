// State of a connection, and of acknowledgements in flight, while simulate() runs a graph.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/engine/capacity.h"
#include "sim/engine/link_queues.h"
#include "sim/engine/loss_rate.h"
#include "sim/engine/returns.h"
#include "sim/engine/simulate.h"

namespace slmsim {

// Bytes are totals over all its sockets.
struct Channel {
  const Connection* connection = nullptr;
  Capacity limits;
  bool alone = false;                     // Capacity::is_alone, without the engine
  int cap = -1;                           // index of the engine's rate cap for its maximum rate
  TaskId head = kNoTask, tail = kNoTask;  // waiting or active transfers, linked through Run::next_
  double free = 0;                        // when the last transfer has left, of a channel alone
  double remaining = 0;                   // of the transfer at the head
  bool flowing = false;
  double flow_start = 0, flow_bytes = 0;
  double flow_end = 0;  // when the engine is not used
  double flow_left = 0, flow_seen = 0,
         flow_rate = 0;             // for shared links: bytes at that time, and the rate since
  double flow_recorded = 0;         // bytes
  std::optional<TcpSender> sender;  // only if a window may bind
  std::optional<LossRate> losses;   // only if a transfer may meet many
  double averaged = 0;              // B/s of the transfer at the head, where its losses are not simulated
  double last_sent = -INFINITY;
  double wake = INFINITY;  // clock time of the event that wakes it while its window is full
  Returns returns;

  double most() const { return averaged > 0 ? averaged : limits.most; }

  // Whether it has something to send and sends nothing. Between events its window is full, and acknowledgements wake it.
  bool waits() const { return !flowing && head != kNoTask; }

  // A departing piece arrives at the links of its path.
  void queue(LinkQueues& queues, double now) const {
    for (const QueuedLink& at : limits.queued) queues.add(at.link, flow_bytes * at.alike, at.rate * at.alike, now);
  }

  struct Alone {
    double start, arrived;
  };
  // Sends a transfer that becomes ready now; `tell(from, to, bytes)` of each of its pieces.
  template <class Tell>
  Alone send_alone(double now, double bytes, Tell tell) {
    const double start = free = std::max(now, free), latency = connection->route.latency.value;
    if (bytes > 0 && sender) {
      send_windowed(bytes, tell);
    } else if (bytes > 0) {
      free = start + bytes / limits.most;
      tell(start, free, bytes);
    }
    return {start, latency > 0 ? free + latency : free};
  }

  // Sends from `free` on. This is the inner loop of most simulations: with inlined calls of the sender and kept out of its caller,
  // for the sake of registers, predictions are a tenth faster.
  template <class Tell>
  [[gnu::noinline, gnu::flatten]] void send_windowed(double bytes, Tell& tell) {
    double now = free;
    settle(now);
    sender->resume(now - last_sent);
    if (const double rate = losses ? losses->rate(bytes, now - last_sent, sender->state()) : 0; rate > 0) {
      free = last_sent = now + bytes / rate;
      tell(now, free, bytes);
      settle(free);
      sender->average(losses->state(), free);
      return;
    }
    for (double left = bytes; left > 0;) {
      const double piece = sender->take(left);
      if (piece <= 0) {
        if (returns.empty()) throw std::logic_error("a window admits nothing, and nothing is on the way");
        now = returns.front().date;
        settle(now);
        continue;
      }
      const double begun = now;
      now += piece / limits.most;
      left -= piece;
      tell(begun, now, piece);
      settle(now);
      const Acknowledgements acks = sender->left(piece, now - begun);
      for (int i = 0; i < acks.count; ++i) returns.add(now + std::max(0.0, acks.delay(i)), acks.bytes);
    }
    free = last_sent = now;
  }

  void settle(double now) {
    returns.settle(now, [this](double bytes, double date) { sender->acknowledged(bytes, date); });
  }

  // Opens a windowed connection that is in this state.
  void open(const ConnectionState& before, const SimulationOptions& options) {
    double on_the_way = 0;
    for (const auto& late : before.on_the_way) {
      on_the_way += late.bytes;
      returns.add(late.due.value, late.bytes);
    }
    if (before.tcp.window > 0) last_sent = -before.idle.value;
    const TcpWindow& window = connection->route.window;
    sender.emplace(window, connection->sockets, limits.single, before.tcp, on_the_way);
    if (!options.always_engine) losses = loss_rate_of(window, connection->sockets, limits.most, limits.single);
  }

  // State for the next iteration, if this one ends at `end`.
  ConnectionState state_after(Seconds end) {
    if (!std::isfinite(last_sent) || !sender) return {};
    settle(end.value);
    ConnectionState state{sender->state(end.value), end - Seconds{last_sent}, {}};
    for (const auto& [date, bytes] : returns) state.on_the_way.push_back({Seconds{date} - end, bytes});
    return state;
  }
};

// The longest time from a piece's first departure until its acknowledgements have waited; 0: none wait.
inline double longest_wait(const std::vector<Channel>& channels) {
  double longest = 0;
  for (const Channel& channel : channels) {
    const auto links = static_cast<double>(channel.limits.back.size());
    if (links > 0) longest = std::max(longest, channel.connection->route.window.rtt.value + links * kRouterBuffer);
  }
  return longest;
}

// Acknowledgements that arrive at a full link over a period, and would return at `due` without a queue.
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
