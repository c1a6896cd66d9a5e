#include "sim/engine/loss_rate.h"

#include <algorithm>
#include <cmath>

#include "sim/engine/returns.h"

namespace slmsim {
namespace {

constexpr double kHighLoss = 0.005;  // share of segments; below, each loss is simulated
constexpr double kManyWindows = 8;   // in a transfer: an incomplete last one is then at most 1/8 of it
constexpr double kManyLosses = 4;    // in a transfer: its time is then within 5 % of that with each loss simulated
// Losses of the lone sender: first those that lead from slow start to the mean, then those of the mean.
constexpr double kFirstLosses = 64, kCountedLosses = 256;

bool loses_much(const TcpWindow& path) {
  return path.loss >= kHighLoss && path.congestion_control != CongestionControl::kBbr;
}

}  // namespace

double losses_of(const TcpWindow& path, double bytes) {
  if (!loses_much(path) || bytes < kManyWindows * mean_window(path).value) return 0;
  const double losses = bytes / path.segment.value * path.loss;
  return losses >= kManyLosses ? losses : 0;
}

double LossRate::rate(double bytes, double idle, const TcpState& before) {
  if (before.before_loss <= 0 || losses_of(path_, bytes / connections_) <= 0) return 0;
  if (!mean_) mean_ = alone();
  const double window = mean_->rate * path_.rtt.value;
  const double ahead = std::min({bytes, window, mean_->rate * std::max(0.0, idle)});
  return std::min(most_, bytes / (ahead / most_ + (bytes - ahead) / mean_->rate));
}

LossRate::Mean LossRate::alone() const {
  TcpSender sender(path_, connections_, single_, {}, 0);
  Returns returns;
  double now = 0, sent = 0, rate = most_;
  const auto settle = [&] {
    returns.settle(now, [&](double bytes, double date) { sender.acknowledged(bytes, date); });
  };
  const double between = path_.segment.value / path_.loss * connections_;  // bytes from loss to loss
  for (const double losses : {kFirstLosses, kCountedLosses}) {
    const double since = now, before = sent, end = sent + losses * between;
    while (sent < end) {
      const double piece = sender.take(end - sent);
      if (piece <= 0) {
        if (returns.empty()) return {most_, sender.state(now)};
        now = std::max(now, returns.front().date);
        settle();
        continue;
      }
      const double begun = now;
      now += piece / most_;
      sent += piece;
      settle();
      const Acknowledgements acks = sender.left(piece, now - begun);
      for (int i = 0; i < acks.count; ++i) returns.add(now + std::max(0.0, acks.delay(i)), acks.bytes);
    }
    rate = (sent - before) / (now - since);
  }
  return {rate, sender.state(now)};
}

std::optional<LossRate> loss_rate_of(const TcpWindow& path, int connections, double most, double single) {
  if (!loses_much(path)) return std::nullopt;
  return LossRate(path, connections, most, single);
}

}  // namespace slmsim
