// Measures a path: round trips, then per direction cold-start and after-idle curves, the steady rate of several connections,
// and loss.
//
// Loss. A transfer that fills the path overflows its queue, and its retransmissions reflect congestion of its own making; the
// simulator's `loss` is that of a path that is not full. So loss is measured by streams that the kernel paces
// (SO_MAX_PACING_RATE) to half of the rate just reached: retransmitted segments, less those that the receiver already had
// (DSACK), over segments sent. Drops caused by other traffic count, as they will in use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/netprobe/statistics.h"
#include "calibrate/netprobe/wire.h"

namespace slmsim::calibrate::netprobe {

inline constexpr double kLossPace = 0.5;  // share of the highest steady rate
inline constexpr int kLossConnections = 4;
inline constexpr double kLongestLossTest = 10;  // s

struct Request {
  double time_limit = 300;  // s
  double largest = 1e9;     // bytes of a message
  int repeats = 5;          // at most, per point; three fifths of it per rate
  bool one_way = false;     // only from the client to the server
};

struct Point {
  double size = 0;  // bytes
  Spread seconds;
  double pause = 0;                        // s, median
  double in_flight = 0, send_window = 0;   // B, maximum of all repeats
  double initial_window = 0;               // segments
  double congestion_before = 0;            // segments, median
  double threshold_before = 0;             // segments, minimum
  double segments = 0, retransmitted = 0;  // of all repeats
};

struct SteadyState {
  int connections = 0;
  Spread rate;                            // bytes acknowledged per second, all connections
  double growth = 0;                      // rate of the second half over that of the first; the value farthest from 1
  double in_flight = 0, send_window = 0;  // B, maximum of one connection
  double segments = 0, retransmitted = 0;
  double receive_limited = 0, buffer_limited = 0;  // shares of the time, means
};

struct Loss {
  double pace = 0, seconds = 0;
  double segments = 0, retransmitted = 0, spurious = 0;
  double share() const;
};

struct DirectionResult {
  std::vector<Point> cold, idle;
  std::vector<SteadyState> steady;
  Loss loss;
  double segment = 0, path_mtu = 0;   // B
  std::vector<std::string> left_out;  // sentences
};

struct Measurement {
  Spread rtt;  // s
  double kernel_rtt = 0;
  DirectionResult forward;
  std::optional<DirectionResult> reverse;
};

// `progress` is called with the current measurement and the elapsed share of the time limit.
using Progress = std::function<void(const std::string& what, double share)>;
Measurement measure(const Wire& wire, const Request& request, const Progress& progress);

// The direction's steady rate with the highest median; the first of equals.
const SteadyState& best_rate(const DirectionResult& result);

}  // namespace slmsim::calibrate::netprobe
