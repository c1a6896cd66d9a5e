#include "calibrate/netprobe/statistics.h"

#include <algorithm>
#include <cmath>

namespace slmsim::calibrate::netprobe {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size(), half = count / 2;
  const double median = count % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(count) - 1e-9));
  return {static_cast<int>(count), values.front(), median, values[rank - 1], values.back()};
}

double upper_bound_of_none(double count) { return count > 0 ? std::min(1.0, 3 / count) : 1.0; }

}  // namespace slmsim::calibrate::netprobe
