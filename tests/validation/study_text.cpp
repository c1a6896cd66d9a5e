#include "tests/validation/study_text.h"

#include <fmt/format.h>

namespace slmsim {

std::string error_text(const Comparison& cell, int digits) {
  if (!cell.predicted) return "";
  if (const auto error = cell.error()) return fmt::format("{:+.{}f} %", 100 * *error, digits);
  return fmt::format("{:+.4g} (measured is 0: difference)", *cell.predicted);
}

std::string summary_text(const ErrorSummary& summary) {
  std::string out = fmt::format("{} cells, mean absolute error {:.1f} %, worst {:.1f} %", summary.cells,
                                100 * summary.mean, 100 * summary.worst);
  if (summary.zeros > 0)
    out += fmt::format("; {} more measured as 0, judged by the difference: at most {:.4g}", summary.zeros,
                       summary.worst_difference);
  return out;
}

std::string fitted_table(const std::vector<Parameter>& fitted) {
  std::string out = fmt::format("\n{} fitted values:\n\n| value | is | fitted to |\n|---|---|---|\n", fitted.size());
  for (const auto& parameter : fitted)
    out += fmt::format("| `{}` | {} | {} |\n", parameter.path, parameter.value, parameter.source);
  return out;
}

}  // namespace slmsim
