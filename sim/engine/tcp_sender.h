// The sending end of TCP as Linux has it: how much of a transfer may leave now, and how the congestion window moves.
//
//   - Slow start: acknowledged bytes let the window grow by as much, up to the threshold, or to twice what was on its way
//     of late; beyond the threshold a window grows only where it is what limits (tcp_is_cwnd_limited, include/net/tcp.h).
//   - HyStart ends CUBIC's slow start early where a round's acknowledgements span half a round trip, or come late since
//     other connections' bytes are queued before them (Ha and Rhee 2011; hystart_update, net/ipv4/tcp_cubic.c).
//   - Congestion avoidance: a segment per round trip (Reno, RFC 5681), or CUBIC's curve (RFC 9438, sections 4.1 to 4.3;
//     before the first loss 5 % per round trip, bictcp_update in tcp_cubic.c).
//   - Loss: one segment of 1 / p, at even distances. It cuts the window to 0.5 (Reno) or 0.7 (CUBIC) of itself, and is
//     repaired without a pause. BBR minds neither loss nor queues.
//   - Idleness: the window is halved for each retransmission time-out without sending, down to the initial one, and slow
//     start leads back to 3/4 of what it was (tcp_cwnd_restart, net/ipv4/tcp_output.c, after RFC 2861). BBR keeps it.
//   - A program that sleeps on a full send buffer is woken once a third of it is free (sk_stream_min_wspace,
//     include/net/sock.h).
//
// All of it is held against a real kernel in tests/wan. Left out: retransmission time-outs, and lost acknowledgements.
#pragma once

#include <limits>

#include "sim/platform/network.h"

namespace slmsim {

// One connection between two iterations; a window of 0: never used. Bytes, and seconds.
struct TcpState {
  double window = 0;                                           // congestion window
  double threshold = std::numeric_limits<double>::infinity();  // slow start ends here
  double since_loss = 0;                                       // acknowledged since the last loss
  double before_loss = 0;                                      // CUBIC's W_max; 0: no loss yet
  double reno = 0;                                             // what Reno would have by now: W_est of RFC 9438
  double age = 0;                                              // time since the last loss, without pauses
  double used = 0;                                             // on its way of late, at most
  double left_of_round = 0;  // until what was on its way when `used` was seen is acknowledged
  bool limited = false;      // the window was all used then

  bool operator==(const TcpState&) const = default;
};

// What comes back of bytes that have just left: `count` acknowledgements of `bytes` each.
struct Acknowledgements {
  int count = 1;
  double bytes = 0;
  double rtt = 0, length = 0;
  bool at_ends = false;  // of so many parts of the length, else at its beginning

  // Of the i-th, in seconds from now; below 0: it would have been before.
  double delay(int i) const { return rtt + length * ((at_ends ? static_cast<double>(i + 1) / count : 0) - 1); }
};

// Equal connections that carry each transfer together, in step. Bytes of all of them enter and leave; times are those
// of one run.
class TcpSender {
 public:
  // `rate`: B/s of one connection that has the path to itself.
  TcpSender(const TcpWindow& path, int connections, double rate, const TcpState& state, double on_the_way);

  // Before a transfer, `idle` seconds after the last byte left.
  void resume(double idle);
  // Takes what may leave now of `remaining` bytes; 0: more must be acknowledged first.
  double take(double remaining);
  // `bytes` have just left, over `length` seconds. Acknowledgements follow the bytes: those of the first ones are back a
  // round trip after they began to leave, so a window covers a path if it holds what the path carries in a round trip.
  Acknowledgements left(double bytes, double length);
  void acknowledged(double bytes, double now);

  TcpState state(double now) const;

 private:
  double usable() const;
  bool sleeps_on_buffer() const;
  bool in_slow_start() const { return state_.window < state_.threshold; }
  bool is_cubic() const { return path_.congestion_control == CongestionControl::kCubic; }
  void watch_use();
  void watch_for_queues(double bytes, double length);
  void grow(double bytes, double now);
  void count_towards_loss(double bytes, double now);

  TcpWindow path_;
  double connections_ = 1, rate_ = 0;
  TcpState state_;
  double last_loss_ = 0;                     // s; moved on by pauses
  double way_back_ = 0, way_back_from_ = 0;  // CUBIC's K, of that W_max
  double on_the_way_ = 0;                    // bytes of all connections
};

}  // namespace slmsim
