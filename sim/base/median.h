// Median of values in any unit: for an even count, the mean of the two middle values.
#pragma once

#include <algorithm>
#include <vector>

namespace slmsim {

// `values` holds at least one.
inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace slmsim
