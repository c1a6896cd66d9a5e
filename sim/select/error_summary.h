// How far predictions are off, over several cells of a table.
#pragma once

#include <optional>
#include <vector>

namespace slmsim {

// Of the absolute values of relative errors.
struct ErrorSummary {
  int cells = 0;
  double mean = 0, median = 0, worst = 0;
};

// Cells without an error are left out.
ErrorSummary summary_of_errors(const std::vector<std::optional<double>>& errors);

}  // namespace slmsim
