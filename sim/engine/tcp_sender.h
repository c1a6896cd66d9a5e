// TCP's sender as in Linux: the bytes that may leave now, and the evolution of the congestion window.
//
//   - Slow start: acknowledged bytes enlarge the window by the same amount, up to the threshold, or to twice the recent
//     bytes in flight; above the threshold a window grows only while it limits (tcp_is_cwnd_limited, include/net/tcp.h).
//   - HyStart ends CUBIC's slow start early where a round's acknowledgements span half a round trip, or are late
//     behind other connections' queued bytes (Ha and Rhee 2011; hystart_update, net/ipv4/tcp_cubic.c).
//   - Congestion avoidance: a segment per round trip (Reno, RFC 5681), or CUBIC's curve (RFC 9438, sections 4.1 to 4.3;
//     before the first loss the curve from where it began, and at least 5 % per round trip, bictcp_update in tcp_cubic.c).
//   - Loss: one segment of 1 / p (loss_distance.h). It cuts the window to 0.5 (Reno) or 0.7 (CUBIC) of itself, once for all
//     segments that were in flight (tcp_fastretrans_alert, net/ipv4/tcp_input.c), and is repaired without a pause. BBR reacts to
//     neither loss nor queues.
//   - Idleness: the window is halved for each retransmission time-out without sending, down to ten segments, and slow start
//     leads back to 3/4 of its former value (tcp_cwnd_restart, net/ipv4/tcp_output.c, after RFC 2861). BBR keeps it.
//   - Time-outs: the smoothed RTT and 200 ms, or four mean deviations where they are more (tcp_rtt_estimator,
//     net/ipv4/tcp_input.c, sample by sample). A sample has what the bytes waited in queues: bytes in flight over their rate,
//     by Little's law; the bytes of a burst wait for those before them.
//   - A program that sleeps on a full send buffer is woken once a third of it is free (sk_stream_min_wspace,
//     include/net/sock.h).
//
// tests/wan compares all of it with a real kernel. Not modelled: retransmissions by time-out, and lost acknowledgements.
#pragma once

#include <limits>

#include "sim/platform/network.h"

namespace slmsim {

// One connection between two iterations; a window of 0: never used. Units: bytes and seconds.
struct TcpState {
  double window = 0;                                           // congestion window
  double threshold = std::numeric_limits<double>::infinity();  // slow start ends here
  double since_loss = 0;                                       // acknowledged since the last loss
  int losses = 0;                                              // so far
  double recovers = 0;       // bytes in flight at the last cut, until they are acknowledged
  double before_loss = 0;    // CUBIC's W_max; 0: no loss yet
  double reno = 0;           // Reno's window now: W_est of RFC 9438
  double origin = 0;         // window at which congestion avoidance began before the first loss; 0: it has not
  double age = 0;            // time since then or since the last loss, without pauses
  double used = 0;           // recent maximum in flight
  double left_of_round = 0;  // remaining bytes until those in flight at `used` are acknowledged
  bool limited = false;      // the window was fully used then
  double wait = 0;           // s: the smoothed RTT less the path's
  double behind = 0;         // s: how long the last segment waited to leave
  double deviation = 0;      // s: four mean deviations of RTT samples
  double variation = 0;      // s: the largest of these, which decays; 0: at most 200 ms

  bool operator==(const TcpState&) const = default;
};

// Acknowledgements of bytes that have just left: `count` of `bytes` each.
struct Acknowledgements {
  int count = 1;
  double bytes = 0;
  double rtt = 0, length = 0;
  bool at_ends = false;  // each at the end of its part of the length, else at the beginning

  // Delay of the i-th, in seconds from now; below 0: in the past.
  double delay(int i) const { return rtt + length * ((at_ends ? static_cast<double>(i + 1) / count : 0) - 1); }
};

// A window after a pause: halved for each time-out without sending, as long as it is above `least`. Slow start then leads back to
// kThresholdAfterIdle of its former value (tcp_current_ssthresh). Windows in bytes, times in seconds.
double window_after(double pause, double time_out, double window, double least);
inline constexpr double kThresholdAfterIdle = 0.75;

// Equal connections that carry each transfer together, in step. Byte counts are totals over all connections; times are
// those of one run.
class TcpSender {
 public:
  // `rate`: B/s of one connection alone on the path.
  TcpSender(const TcpWindow& path, int connections, double rate, const TcpState& state, double on_the_way);

  // Call before a transfer, `idle` seconds after the last byte left.
  void resume(double idle);
  // Takes the part of `remaining` bytes that may leave now; 0: more must be acknowledged first.
  double take(double remaining);
  // `bytes` have just left, over `length` seconds. Acknowledgements follow the bytes: the first ones return a round
  // trip after the first byte left, so a window covers a path if it holds the bytes that the path carries in a round
  // trip.
  Acknowledgements left(double bytes, double length);
  void acknowledged(double bytes, double now);

  // After many losses at their mean rate (loss_rate.h): nothing is in flight.
  void average(const TcpState& state, double now);

  const TcpState& state() const { return state_; }  // `age` as of the last call of state(now)
  TcpState state(double now) const;

 private:
  double usable() const;
  bool sleeps_on_buffer() const;
  double samples_of(double bytes) const;
  bool in_slow_start() const { return state_.window < state_.threshold; }
  bool is_cubic() const { return path_.congestion_control == CongestionControl::kCubic; }
  void watch_use(double used);
  void watch_for_queues(double bytes, double length);
  void watch_round_trip(double bytes, double length);
  void sample(double first, double last, double bytes);
  void grow(double bytes, double now);
  double cubic_target(double now);
  void count_towards_loss(double bytes, double now);

  TcpWindow path_;
  double connections_ = 1, rate_ = 0;
  TcpState state_;
  double loss_distance_ = 0;                 // acknowledged bytes from the last loss to the next
  double curve_from_ = 0;                    // s, CUBIC's curve: the last loss or TcpState::origin; shifted by pauses
  double way_back_ = 0, way_back_from_ = 0;  // CUBIC's K for that W_max
  double on_the_way_ = 0;                    // bytes of all connections
  double in_flight_ = 0;                     // the same as the kernel has them: queued bytes of the transfer included
  bool burst_ = true;                        // the next piece is the first of a transfer, with nothing on the way
};

}  // namespace slmsim
