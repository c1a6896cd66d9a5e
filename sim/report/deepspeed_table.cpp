#include "sim/report/deepspeed_table.h"

#include <fmt/format.h>

#include "sim/report/csv.h"

namespace slmsim {
namespace {

std::string summary_line(const char* what, const ErrorSummary& s) {
  return fmt::format("- {}: {} cells, mean absolute error {:.1f} %, worst {:.1f} %\n", what, s.cells, 100 * s.mean,
                     100 * s.worst);
}

}  // namespace

std::string to_markdown(const DeepSpeedValidation& validation) {
  std::string out =
      "| configuration | nodes | 1e9 parameters | what | measured | predicted | error "
      "|\n|---|--:|--:|---|--:|--:|--:|\n";
  for (const auto& f : validation.facts) {
    const std::string predicted = f.predicted ? fmt::format("{:.4g}", *f.predicted) : "does not run";
    const std::string error = f.predicted ? fmt::format("{:+.1f} %", 100 * *f.error()) : "";
    out += fmt::format("| {} | {} | {:.4g} | {}, {} | {:.4g} | {} | {} |\n", f.config, f.nodes, f.size, f.metric,
                       f.unit, f.measured, predicted, error);
  }
  out += '\n';
  out += summary_line("throughput", validation.throughput);
  out += summary_line("largest models", validation.largest);
  out += summary_line("averages of links", validation.links);
  out += fmt::format("\n{} fitted values:\n\n| value | is | fitted to |\n|---|---|---|\n", validation.fitted.size());
  for (const auto& parameter : validation.fitted)
    out += fmt::format("| `{}` | {} | {} |\n", parameter.path, parameter.value, parameter.source);
  return out;
}

std::string to_csv(const DeepSpeedValidation& validation) {
  std::string out = "config,nodes,model_size_B,metric,unit,measured,predicted,error\n";
  for (const auto& f : validation.facts) {
    out += fmt::format("{},{},{:.9g},{},{},{:.9g},{},{}\n", csv_cell(f.config), f.nodes, f.size, csv_cell(f.metric),
                       csv_cell(f.unit), f.measured, f.predicted ? fmt::format("{:.9g}", *f.predicted) : "",
                       f.predicted ? fmt::format("{:.9g}", *f.error()) : "");
  }
  return out;
}

}  // namespace slmsim
