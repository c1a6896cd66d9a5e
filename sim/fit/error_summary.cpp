#include "sim/fit/error_summary.h"

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
  std::ranges::sort(known);
  const double mean = std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
  const std::size_t most = (9 * known.size() + 9) / 10;
  return {.cells = static_cast<int>(known.size()),
          .mean = mean,
          .median = median_of(known),
          .worst = known.back(),
          .tenth_worst = known[most - 1]};
}

std::optional<double> Comparison::error() const {
  if (!predicted || measured == 0) return std::nullopt;
  return *predicted / measured - 1;
}

ErrorSummary summary_of(const std::vector<Comparison>& cells) {
  std::vector<std::optional<double>> errors;
  int zeros = 0;
  double worst = 0;
  for (const auto& cell : cells) {
    if (cell.predicted && cell.measured == 0) {
      ++zeros;
      worst = std::max(worst, std::abs(*cell.predicted));
    } else {
      errors.emplace_back(cell.error().value_or(1.0));
    }
  }
  ErrorSummary out = summary_of_errors(errors);
  out.zeros = zeros;
  out.worst_difference = worst;
  return out;
}

}  // namespace slmsim
