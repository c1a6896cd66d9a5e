// The middle of values, in whatever unit they are: of an even number of them the mean of the two in the middle.
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
