// Summary of repeated measurements.
#pragma once

#include <vector>

namespace slmsim::calibrate {

struct Summary {
  int count = 0;
  double least = 0, median = 0, most = 0;
  // A 95 % confidence interval of the median from order statistics, without assumptions on the distribution (Conover, Practical
  // Nonparametric Statistics, 3rd ed., section 3.2). Fewer than 6 values cannot reach this confidence; the interval is then
  // least to most.
  double low = 0, high = 0;
  int outliers = 0;    // more than 5 scaled median absolute deviations from the median; kept in all figures
  bool drift = false;  // the medians of the first and the second half differ by more than the interval's width
};

// In the order of measurement; all 0 for no values.
Summary summary_of(const std::vector<double>& values);

// Rank (from 1) of the lower end of that interval among `count` sorted values; the upper end is as far from the top.
int interval_rank(int count);

// Whether the interval lies within this share of the median.
bool within(const Summary& summary, double share);

}  // namespace slmsim::calibrate
