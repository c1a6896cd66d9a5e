#include <fmt/format.h>

#include "sim/predict/row.h"
#include "tests/validation/study_text.h"
#include "tests/validation/tables.h"

namespace slmsim {
std::string to_markdown(const DeepSpeedValidation& validation) {
  std::string out =
      "| configuration | nodes | 1e9 parameters | what | measured | predicted | error "
      "|\n|---|--:|--:|---|--:|--:|--:|\n";
  for (const auto& f : validation.facts) {
    const std::string predicted = f.predicted ? fmt::format("{:.4g}", *f.predicted) : "does not run";
    out += fmt::format("| {} | {} | {:.4g} | {}, {} | {:.4g} | {} | {} |\n", f.config, f.nodes, f.size, f.metric,
                       f.unit, f.measured, predicted, error_text(f.judged(), 1));
  }
  out += '\n';
  out += fmt::format("- throughput: {}\n", summary_text(validation.throughput));
  out += fmt::format("- largest models: {}\n", summary_text(validation.largest));
  out += fmt::format("- averages of links: {}\n", summary_text(validation.links));
  out += fitted_table(validation.fitted);
  return out;
}

std::string to_csv(const DeepSpeedValidation& validation) {
  std::string out = "config,nodes,model_size_B,metric,unit,measured,predicted,error\n";
  for (const auto& f : validation.facts) {
    out += fmt::format("{},{},{:.9g},{},{},{:.9g},{},{}\n", csv_cell(f.config), f.nodes, f.size, csv_cell(f.metric),
                       csv_cell(f.unit), f.measured, f.predicted ? fmt::format("{:.9g}", *f.predicted) : "",
                       f.error() ? fmt::format("{:.9g}", *f.error()) : "");
  }
  return out;
}

}  // namespace slmsim
