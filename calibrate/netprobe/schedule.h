// Schedule within the user's time limit: which sizes, and how often each.
#pragma once

#include <vector>

namespace slmsim::calibrate::netprobe {

inline constexpr double kSmallest = 64e3;   // bytes, the first of the curves
inline constexpr double kIdleTimeouts = 5;  // pause before an after-idle message, in retransmission time-outs

// 64 kB, and each four times the one before, up to and including `largest`.
std::vector<double> curve_sizes(double largest);

// Expected seconds for a message of `size` after the ones measured so far, the last being the largest: at the rate of the last
// one's additional bytes. An upper estimate, because windows only open.
double expected_seconds(const std::vector<double>& sizes, const std::vector<double>& seconds, double size, double rtt);

// Number of repeats of a measurement of `cost` seconds, with `left` seconds for it and for `others` more expensive ones after
// it: an even share each, but one if only that fits; 0: leave it out.
int repeats_for(double cost, double left, int others, int most);

// The bytes that warm a connection up: the largest size of the cold curve that took at most a second or twenty round trips, in
// which a window of 10 segments can grow a thousandfold; at least the first.
double warm_up_bytes(const std::vector<double>& sizes, const std::vector<double>& seconds, double rtt);

// The rate's window begins when slow start has ended on all but the longest paths: after a second or twenty round trips.
double stream_warm_up(double rtt);
double stream_seconds(double rtt);

// Divides the remaining time among the remaining parts.
class Budget {
 public:
  Budget(double start, double limit, double weights) : end_(start + limit), weights_(weights) {}
  // The seconds from `now` for the next part; removes its weight.
  double next(double now, double weight);
  double left(double now) const { return end_ - now; }

 private:
  double end_, weights_;
};

}  // namespace slmsim::calibrate::netprobe
