#include "calibrate/netprobe/schedule.h"

#include <algorithm>
#include <cmath>

namespace slmsim::calibrate::netprobe {

std::vector<double> curve_sizes(double largest) {
  // 64 kB, 256 kB, 1 MB, ...: powers of four times 1 MB from then on.
  std::vector<double> sizes;
  for (const double size : {kSmallest, 256e3}) {
    if (size < largest) sizes.push_back(size);
  }
  for (double size = 1e6; size < largest; size *= 4) sizes.push_back(size);
  sizes.push_back(largest);
  return sizes;
}

double expected_seconds(const std::vector<double>& sizes, const std::vector<double>& seconds, double size, double rtt) {
  if (sizes.empty()) return 4 * rtt;
  const double last = seconds.back(), proportional = last * size / sizes.back();
  if (sizes.size() < 2) return proportional;
  const std::size_t before = sizes.size() - 2;
  const double marginal = std::max(0.0, last - seconds[before]) / (sizes.back() - sizes[before]);
  return std::min(proportional, last + marginal * (size - sizes.back()));
}

int repeats_for(double cost, double left, int others, int most) {
  if (cost > left) return 0;
  const double share = left / (others + 1);
  return static_cast<int>(std::clamp(std::floor(share / cost), 1.0, static_cast<double>(most)));
}

double warm_up_bytes(const std::vector<double>& sizes, const std::vector<double>& seconds, double rtt) {
  double bytes = sizes.front();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (seconds[i] <= std::max(1.0, 20 * rtt)) bytes = std::max(bytes, sizes[i]);
  }
  return bytes;
}

double stream_warm_up(double rtt) { return std::max(1.0, 20 * rtt); }
double stream_seconds(double rtt) { return std::max(2.0, 20 * rtt); }

double Budget::next(double now, double weight) {
  const double share = std::max(0.0, left(now)) * std::min(1.0, weight / weights_);
  weights_ = std::max(weights_ - weight, weight * 1e-9);
  return share;
}

}  // namespace slmsim::calibrate::netprobe
