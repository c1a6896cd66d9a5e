// Errors of predictions over several cells of a table, and medians.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace slmsim {

// Median of values in any unit: for an even count, the mean of the two middle values.
// `values` holds at least one.
inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Summary of absolute relative errors. A measured 0 has none: such cells are counted separately, by the difference itself.
struct ErrorSummary {
  int cells = 0;
  double mean = 0, median = 0, worst = 0, tenth_worst = 0;  // tenth_worst: nine tenths are at most this
  int zeros = 0;
  double worst_difference = 0;  // for measured zeros, in the cells' unit
};

// A measured figure and its prediction: nothing where it does not run.
struct Comparison {
  double measured = 0;
  std::optional<double> predicted;

  std::optional<double> error() const;  // relative; nothing also where the measured figure is 0
};

// A cell that does not run has an error of 100 %.
ErrorSummary summary_of(const std::vector<Comparison>& cells);

// Cells without an error are left out.
ErrorSummary summary_of_errors(const std::vector<std::optional<double>>& errors);

}  // namespace slmsim
