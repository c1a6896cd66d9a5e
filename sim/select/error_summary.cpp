#include "sim/select/error_summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slmsim {

ErrorSummary summary_of_errors(const std::vector<std::optional<double>>& errors) {
  std::vector<double> known;
  for (const auto& error : errors) {
    if (error) known.push_back(std::abs(*error));
  }
  if (known.empty()) return {};
  std::sort(known.begin(), known.end());
  const std::size_t half = known.size() / 2;
  const double median = known.size() % 2 == 1 ? known[half] : (known[half - 1] + known[half]) / 2;
  const double mean = std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
  return {static_cast<int>(known.size()), mean, median, known.back()};
}

}  // namespace slmsim
