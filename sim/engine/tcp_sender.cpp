#include "sim/engine/tcp_sender.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/engine/loss_distance.h"

namespace slmsim {
namespace {

// Share of a full send buffer that must be free before a sleeping program is woken.
constexpr double kFreeShareOfBuffer = 1.0 / 3;
// Acknowledgements per full window, in view of kLeastShareOfWindow; more of them change results by at most 1 %.
constexpr double kAcknowledgementsPerWindow = 12;

constexpr double kRoundedBytes = 1e-3;  // bytes, in sums of pieces

constexpr double kWidestWindow = 2.0;  // relative to the bytes in flight
constexpr double kLeastWindow = 2;     // segments

// HyStart: begins at 16 segments (hystart_low_window); acknowledgements of a train follow within 2 ms (hystart_ack_delta); late
// means more than RTT / 8, within 4 and 16 ms (HYSTART_DELAY_MIN and _MAX). It takes the least RTT of a round, that of its
// first segments. Of connections that start together, half of the others come first on average, with two bytes for each that
// leaves meanwhile: half of theirs wait.
constexpr double kHystartLeastWindow = 16;                              // segments
constexpr double kMostAckDistance = 2e-3;                               // s
constexpr double kHystartLeastDelay = 4e-3, kHystartMostDelay = 16e-3;  // s
constexpr double kShareAhead = 0.25;

// tcp_rtt_estimator: a sample of each acknowledgement of two segments (RFC 5681, section 4.2); the part of the variation that
// stays per window of acknowledgements. After that many samples the mean follows at a constant distance. Smaller changes
// count as none.
constexpr double kSegmentsPerSample = 2, kVariationKept = 0.75, kMostSamples = 64, kLeastDeviation = 1e-3;

// RFC 5681 and RFC 9438: remaining window after a loss, CUBIC's scale (segments / s^3), its Reno-friendly slope.
constexpr double kRenoBeta = 0.5, kCubicBeta = 0.7, kCubicScale = 0.4;
constexpr double kCubicFriendly = 3 * (1 - kCubicBeta) / (1 + kCubicBeta);
constexpr double kFastConvergence = (1 + kCubicBeta) / 2;
constexpr double kLeastGrowth = 0.01,
                 kMostGrowth = 0.5;  // segments, share of the window per round trip (bictcp_update)
constexpr double kGrowthBeforeLoss = 0.05;

// Powers of 3/4 and 7/8 up to kMostSamples.
const auto& powers_of_samples() {
  static const auto kPowers = [] {
    std::array<std::pair<double, double>, static_cast<std::size_t>(kMostSamples) + 1> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {std::pow(3.0 / 4, i), std::pow(7.0 / 8, i)};
    return out;
  }();
  return kPowers;
}

// Avoids the call of std::trunc, which would dominate take(). Infinite windows count as whole.
double whole(double bytes) {
  constexpr double kMost = 1e18;
  return bytes < kMost ? static_cast<double>(static_cast<std::int64_t>(bytes)) : bytes;
}

}  // namespace

TcpSender::TcpSender(const TcpWindow& path, int connections, double rate, const TcpState& state, double on_the_way)
    : path_(path),
      connections_(connections),
      rate_(rate),
      state_(state),
      loss_distance_(distance_to_loss(path, state.losses)),
      curve_from_(-state.age),
      on_the_way_(on_the_way) {
  if (state_.window <= 0) state_.window = path.initial.value;
}

double TcpSender::usable() const { return std::min(state_.window, path_.steady.value); }

// Bytes in the buffer bridge the sleep if the window is at most 2/3 of it.
bool TcpSender::sleeps_on_buffer() const {
  return path_.sender_sleeps && state_.window >= path_.steady.value &&
         path_.steady.value > (1 - kFreeShareOfBuffer) * path_.send_buffer.value;
}

double window_after(double pause, double time_out, double window, double least) {
  const double was = window;
  for (double left = pause - time_out; left > 0 && window > least; left -= time_out) window /= 2;
  return std::max(window, std::min(was, least));
}

void TcpSender::resume(double idle) {
  burst_ = on_the_way_ <= 0;
  // CUBIC's clock stands still from the last segment that the kernel sent, which then waited to leave (bictcp_cwnd_event).
  if (burst_ && std::isfinite(idle)) curve_from_ += idle + state_.behind;
  const double margin = path_.timeout_margin.value, was = state_.window;
  if (margin <= 0) return;
  const double time_out = path_.rtt.value + state_.wait + std::max(margin, state_.variation);
  // The kernel counts from when it sent the last segment, which then waited to leave.
  state_.window = window_after(idle + state_.behind, time_out, was, path_.restart.value);
  if (state_.window < was) state_.threshold = std::max(state_.threshold, kThresholdAfterIdle * was);
}

double TcpSender::take(double remaining) {
  const double most = usable() * connections_;
  double piece = remaining;
  if (const double room = most - on_the_way_; room < remaining) {
    const double share = sleeps_on_buffer() ? kFreeShareOfBuffer : kLeastShareOfWindow;
    piece = whole(room);
    if (piece < std::min(remaining, whole(most * share))) {
      watch_use(usable());  // the kernel sends segment by segment, up to the window
      return 0;
    }
  }
  in_flight_ = std::min(most, on_the_way_ + remaining);
  on_the_way_ += piece;
  watch_use(on_the_way_ / connections_);
  return piece;
}

Acknowledgements TcpSender::left(double bytes, double length) {
  watch_for_queues(bytes, length);
  if (path_.timeout_margin.value > 0) watch_round_trip(bytes, length);
  burst_ = false;
  Acknowledgements out{.bytes = bytes, .rtt = path_.rtt.value, .length = length, .at_ends = sleeps_on_buffer()};
  if (!out.at_ends) return out;
  out.count = std::max(
      1, static_cast<int>(std::ceil(bytes / (path_.steady.value * connections_) * kAcknowledgementsPerWindow)));
  out.bytes = bytes / out.count;
  return out;
}

// Acknowledgements of these bytes on each connection, of two segments each (RFC 5681, section 4.2).
double TcpSender::samples_of(double bytes) const {
  return bytes / connections_ / path_.segment.value / kSegmentsPerSample;
}

void TcpSender::watch_for_queues(double bytes, double length) {
  if (!is_cubic() || !in_slow_start() || state_.window <= kHystartLeastWindow * path_.segment.value) return;
  const double rtt = path_.rtt.value;
  const bool train = length <= kMostAckDistance * samples_of(bytes);
  if (train && length > rtt / 2) {
    // Detected within the round: acknowledgements up to then have enlarged the window.
    state_.threshold = state_.window + bytes / connections_ / length * rtt / 2;
  } else if ((length - bytes / connections_ / rate_) * kShareAhead >
             std::clamp(rtt / 8, kHystartLeastDelay, kHystartMostDelay)) {
    state_.threshold = state_.window;
  }
}

void TcpSender::watch_round_trip(double bytes, double length) {
  const double queued = std::max(0.0, in_flight_ * length / bytes - path_.rtt.value);
  if (sleeps_on_buffer()) {
    state_.behind = std::max(queued, length);  // a burst of the part of the buffer that was free
    sample(state_.behind, state_.behind, bytes);
  } else if (burst_) {
    state_.behind = length;
    sample(0, std::max(queued, length), bytes);
  } else {
    state_.behind = queued;
    sample(queued, queued, bytes);
  }
}

// As tcp_rtt_estimator: of a sample that lies `off` beyond the mean, an eighth moves the mean, and what is beyond the mean deviation
// moves that: by a quarter, by a 32nd where the mean falls. `deviation` is four times as large.
void TcpSender::sample(double first, double last, double bytes) {
  const double least = kLeastDeviation * path_.rtt.value;
  const double farthest = std::max(std::abs(first - state_.wait), std::abs(last - state_.wait));
  if (std::max(farthest, state_.deviation) < least && state_.variation == 0) return;
  const double samples = std::max(1.0, std::round(samples_of(bytes)));
  const double more = (last - first) / samples;
  double off = first + more - state_.wait, &deviation = state_.deviation, most = 0;
  int left = static_cast<int>(std::min(samples, kMostSamples));
  for (; left > 0 && ((off < 0 && more > 0) || (std::abs(off) > 8 * more && deviation < 4 * std::abs(off))); --left) {
    const double beyond = std::abs(off) - deviation / 4;
    deviation += off < 0 && beyond > 0 ? beyond / 8 : beyond;
    most = std::max(most, deviation);
    off = off * 7 / 8 + more;
  }
  // From here on each sample leaves 3/4 of the deviation, and 7/8 of how far `off` is from its limit: it rises or falls, and does
  // the other at most before.
  if (left > 0) {
    const auto [quarters, eighths] = powers_of_samples()[left];
    const double size = std::abs(off), apart = size - 8 * more;
    most = std::max(most, deviation * 3 / 4 + size);
    deviation = deviation * quarters + 32 * more * (1 - quarters) + 8 * apart * (eighths - quarters);
    most = std::max(most, deviation);
    off = std::copysign(8 * more + apart * eighths, off);
  }
  state_.wait = last + more - off;
  const double settled = std::max(most, path_.timeout_margin.value);
  state_.variation = settled + std::max(0.0, state_.variation - settled) * std::pow(kVariationKept, bytes / in_flight_);
  if (state_.variation <= path_.timeout_margin.value + least) state_.variation = 0;  // does not bind
}

void TcpSender::acknowledged(double bytes, double now) {
  on_the_way_ -= bytes;
  if (on_the_way_ < kRoundedBytes) on_the_way_ = 0;
  const double each = bytes / connections_;
  state_.left_of_round -= each;
  grow(each, now);
  if (path_.loss > 0 && path_.congestion_control != CongestionControl::kBbr) count_towards_loss(each, now);
}

// As tcp_cwnd_validate (net/ipv4/tcp_output.c): once per round, or when the bytes in flight reach a new maximum.
void TcpSender::watch_use(double used) {
  const bool limited = used > state_.window - path_.segment.value;
  if (state_.left_of_round > 0 && !limited && used <= state_.used) return;
  state_.used = state_.left_of_round = used;
  state_.limited = limited;
}

void TcpSender::grow(double bytes, double now) {
  double& window = state_.window;
  const double segment = path_.segment.value;
  if (in_slow_start()) {
    window = std::max(window, std::min({window + bytes, kWidestWindow * state_.used, state_.threshold}));
  } else if (!state_.limited) {
    return;
  } else if (!is_cubic()) {
    window += bytes * segment / window;
  } else {
    const bool lost = state_.before_loss > 0;
    if (!lost && state_.origin <= 0) {
      state_.origin = window;
      curve_from_ = now;
    }
    if (lost) state_.reno += kCubicFriendly * segment * bytes / window;
    const double target = std::max(cubic_target(now), state_.reno);
    const double least = lost ? kLeastGrowth * segment : kGrowthBeforeLoss * window;
    window += bytes / window * std::clamp(target - window, least, kMostGrowth * window);
  }
}

// RFC 9438, section 4.2: W_cubic a round trip from now. Before the first loss it rises from where the curve began.
double TcpSender::cubic_target(double now) {
  const double segment = path_.segment.value;
  double most = state_.before_loss;
  if (most <= 0) {
    most = state_.origin;
  } else if (most != way_back_from_) {
    way_back_from_ = most;
    way_back_ = std::cbrt(most / segment * (1 - kCubicBeta) / kCubicScale);
  }
  const double since_most = now - curve_from_ + path_.rtt.value - way_back_;
  return most + kCubicScale * since_most * since_most * since_most * segment;
}

void TcpSender::count_towards_loss(double bytes, double now) {
  const bool recovers = state_.recovers > 0;
  state_.recovers = state_.recovers - bytes < kRoundedBytes ? 0 : state_.recovers - bytes;
  state_.since_loss += bytes;
  if (state_.since_loss < loss_distance_) return;
  while (state_.since_loss >= loss_distance_) {
    state_.since_loss -= loss_distance_;
    loss_distance_ = distance_to_loss(path_, ++state_.losses);
  }
  if (recovers) return;
  state_.recovers = on_the_way_ / connections_;
  const double window = usable();
  state_.before_loss = is_cubic() && window < state_.before_loss ? window * kFastConvergence : window;
  state_.window = std::max(window * (is_cubic() ? kCubicBeta : kRenoBeta), kLeastWindow * path_.segment.value);
  state_.threshold = state_.reno = state_.window;
  curve_from_ = now;
}

void TcpSender::average(const TcpState& state, double now) {
  state_ = state;
  loss_distance_ = distance_to_loss(path_, state_.losses);
  curve_from_ = now - state.age;
  on_the_way_ = 0;
}

TcpState TcpSender::state(double now) const {
  TcpState out = state_;
  out.age = out.before_loss > 0 || out.origin > 0 ? now - curve_from_ : 0;
  return out;
}

}  // namespace slmsim
