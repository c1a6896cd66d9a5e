// A connection with the state after its last transfer, for connections without shared links whose transfers are added
// in the order in which they become ready (in_order.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/engine/capacity.h"
#include "sim/engine/loss_rate.h"
#include "sim/engine/returns.h"
#include "sim/engine/simulate.h"

namespace slmsim {

// When a task becomes ready, and which tasks release it: none, one, or several that end together.
struct Release {
  enum class By : char { kStart, kOne, kSeveral };

  double time = 0;
  By by = By::kStart;
  TaskId task = kNoTask;
};

class Line {
 public:
  // `flows`: where they are recorded, if at all, by the number of this line.
  Line(const Connection& connection, const Capacity& capacity, const ConnectionState& before, int number = 0,
       std::vector<Flow>* flows = nullptr)
      : most_(capacity.most), latency_(connection.route.latency.value), number_(number), flows_(flows) {
    if (!connection.route.windowed) return;
    double on_the_way = 0;
    for (const auto& late : before.on_the_way) {
      on_the_way += late.bytes;
      returns_.add(late.due.value, late.bytes);
    }
    if (before.tcp.window > 0) last_sent_ = -before.idle.value;
    sender_.emplace(connection.route.window, connection.sockets, capacity.single, before.tcp, on_the_way);
    losses_ = loss_rate_of(connection.route.window, connection.sockets, most_, capacity.single);
  }

  // Of the last transfer; at -1 s before the first.
  const Release& last() const { return last_; }

  // Sends a transfer after the last one; false where it would never be released.
  bool send(const Release& release, double bytes, double& start, double& finish) {
    last_ = release;
    start = std::max(release.time, free_);
    free_ = start;
    if (bytes > 0 && !sender_) {
      free_ = start + bytes / most_;
      record(start, free_, bytes);
    }
    if (bytes > 0 && sender_ && !send_windowed(bytes)) return false;
    finish = latency_ > 0 ? free_ + latency_ : free_;
    return true;
  }

  ConnectionState state(Seconds end) {
    if (!sender_ || !std::isfinite(last_sent_)) return {};
    settle(end.value);
    ConnectionState out{sender_->state(end.value), end - Seconds{last_sent_}, {}};
    for (const auto& [date, bytes] : returns_) out.on_the_way.push_back({Seconds{date} - end, bytes});
    return out;
  }

 private:
  // Sends at the mean rate of many losses; false where these are simulated.
  [[gnu::noinline]] bool send_averaged(double bytes) {
    const double rate = losses_->rate(bytes, free_ - last_sent_, sender_->state());
    if (rate <= 0) return false;
    const double begun = free_;
    free_ = last_sent_ = free_ + bytes / rate;
    record(begun, free_, bytes);
    settle(free_);
    sender_->average(losses_->state(), free_);
    return true;
  }

  // Sends from free_ on, and sets free_ to the time at which the last byte has left. This is the inner loop of most
  // simulations: with inlined calls of the sender and kept out of its caller, for the sake of registers, predictions
  // are a tenth faster.
  [[gnu::noinline, gnu::flatten]] bool send_windowed(double bytes) {
    double now = free_;
    settle(now);
    sender_->resume(now - last_sent_);
    if (losses_ && send_averaged(bytes)) return true;
    for (double left = bytes; left > 0;) {
      const double piece = sender_->take(left);
      if (piece <= 0) {
        if (returns_.empty()) return false;
        now = returns_.front().date;
        settle(now);
        continue;
      }
      const double begun = now;
      now += piece / most_;
      left -= piece;
      record(begun, now, piece);
      settle(now);
      const Acknowledgements acks = sender_->left(piece, now - begun);
      for (int i = 0; i < acks.count; ++i) returns_.add(now + std::max(0.0, acks.delay(i)), acks.bytes);
    }
    free_ = last_sent_ = now;
    return true;
  }

  void record(double start, double finish, double bytes) {
    if (flows_) flows_->push_back({number_, start, finish, bytes});
  }

  void settle(double now) {
    returns_.settle(now, [this](double bytes, double date) { sender_->acknowledged(bytes, date); });
  }

  double most_ = 0, latency_ = 0;
  int number_ = 0;
  std::vector<Flow>* flows_ = nullptr;
  double free_ = 0, last_sent_ = -INFINITY;
  Release last_{.time = -1};
  std::optional<TcpSender> sender_;
  std::optional<LossRate> losses_;
  Returns returns_;
};

}  // namespace slmsim
