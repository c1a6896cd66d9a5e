#include "calibrate/gpu/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slmsim::calibrate {
namespace {

constexpr double kTail = 0.025;       // on each side
constexpr double kScaled = 1.4826;    // standard deviation over median absolute deviation of a normal distribution
constexpr double kFarOut = 5;         // scaled deviations
constexpr int kLeastForDrift = 20;    // each half has an interval of its own
constexpr double kNormalTail = 1.96;  // where the binomial is close to normal
constexpr int kManyValues = 1000;

double median_of(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
  const double upper = values[half];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half))) / 2;
}

}  // namespace

int interval_rank(int count) {
  if (count < 1) return 0;
  if (count > kManyValues) return static_cast<int>(std::floor((count - kNormalTail * std::sqrt(count)) / 2));
  // The largest r such that fewer than r of `count` values lie below the median with a probability of at most kTail.
  double probability = std::pow(0.5, count), below = probability;
  int rank = 0;
  while (below <= kTail) {
    ++rank;
    probability *= static_cast<double>(count - rank + 1) / rank;
    below += probability;
  }
  return std::max(rank, 1);
}

Summary summary_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  Summary summary;
  summary.count = static_cast<int>(sorted.size());
  summary.least = sorted.front();
  summary.most = sorted.back();
  summary.median = median_of(sorted);
  const auto rank = static_cast<std::size_t>(interval_rank(summary.count));
  summary.low = sorted[rank - 1];
  summary.high = sorted[sorted.size() - rank];
  std::vector<double> deviations;
  deviations.reserve(sorted.size());
  for (const double value : sorted) deviations.push_back(std::abs(value - summary.median));
  const double far = kFarOut * kScaled * median_of(deviations);
  summary.outliers = static_cast<int>(
      std::count_if(deviations.begin(), deviations.end(), [&](double deviation) { return deviation > far; }));
  if (far <= 0) summary.outliers = 0;  // the clock is too coarse
  if (summary.count >= kLeastForDrift) {
    const auto middle = values.begin() + summary.count / 2;
    const double moved = median_of({middle, values.end()}) - median_of({values.begin(), middle});
    summary.drift = std::abs(moved) > summary.high - summary.low;
  }
  return summary;
}

bool within(const Summary& summary, double share) {
  return std::max(summary.high - summary.median, summary.median - summary.low) <= share * summary.median;
}

}  // namespace slmsim::calibrate
