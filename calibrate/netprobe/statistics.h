// The spread of repeated measurements.
#pragma once

#include <vector>

namespace slmsim::calibrate::netprobe {

struct Spread {
  int count = 0;
  double least = 0, median = 0, p90 = 0, most = 0;  // p90: nearest rank, the ceil(0.9 n)-th smallest
};

// All 0 for no values.
Spread spread_of(std::vector<double> values);

// With 95 % confidence an event that did not occur in `count` trials is rarer than this (rule of three).
double upper_bound_of_none(double count);

}  // namespace slmsim::calibrate::netprobe
