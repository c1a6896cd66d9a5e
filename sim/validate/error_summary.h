// How far predictions are off, over several cells of a table.
#pragma once

#include <optional>
#include <vector>

namespace slmsim {

// Of the absolute values of relative errors. Where 0 was measured there is none: such cells are counted apart, and judged by
// the difference itself.
struct ErrorSummary {
  int cells = 0;
  double mean = 0, median = 0, worst = 0, tenth_worst = 0;  // tenth_worst: nine tenths are at most this
  int zeros = 0;
  double worst_difference = 0;  // of the zeros, in the cells' unit
};

// A figure of a table, and what is predicted for it: nothing where it does not run.
struct Judged {
  double measured = 0;
  std::optional<double> predicted;

  std::optional<double> error() const;  // relative; nothing also where 0 was measured
};

// What does not run counts as wholly wrong.
ErrorSummary summary_of(const std::vector<Judged>& cells);

// Cells without an error are left out.
ErrorSummary summary_of_errors(const std::vector<std::optional<double>>& errors);

}  // namespace slmsim
