#include <fmt/format.h>

#include "tests/validation/tables.h"

namespace slmsim {
namespace {

std::string cell_error(const Comparison& cell) { return fmt::format("{:+.1f} %", 100 * cell.error().value_or(0)); }

std::string errors_summed_up(const char* what, const ErrorSummary& errors) {
  return fmt::format("\n{}: {} rows, mean absolute error {:.1f} %, worst {:.1f} %; nothing fitted.\n", what,
                     errors.cells, 100 * errors.mean, 100 * errors.worst);
}

}  // namespace

std::string to_markdown(const WanValidation& validation) {
  std::string out =
      "| path | RTT, ms | connections | measured, Mbit/s | predicted | error |\n|---|--:|--:|--:|--:|--:|\n";
  for (const auto& row : validation.paths)
    out += fmt::format("| {} | {:.1f} | {} | {:.0f} | {:.0f} | {} |\n", row.path, row.rtt.value * 1e3, row.connections,
                       row.measured.value * 8e-6, row.predicted.value * 8e-6, cell_error(row.judged()));
  out += errors_summed_up("Paths", validation.path_errors);
  out +=
      "\n| technique | rate | inner steps | measured, ms per inner step | predicted | error "
      "|\n|---|---|--:|--:|--:|--:|\n";
  for (const auto& row : validation.rounds)
    out += fmt::format("| {} | {} | {} | {:.1f} | {:.1f} | {} |\n", row.technique, row.rate, row.inner_steps,
                       row.measured.value * 1e3, row.predicted.value * 1e3, cell_error(row.judged()));
  return out + errors_summed_up("Rounds", validation.round_errors);
}

std::string to_csv(const WanValidation& validation) {
  std::string out = "table,what,where,count,measured,predicted,error\n";
  for (const auto& row : validation.paths)
    out += fmt::format("paths,{},{:g} ms,{},{:.6g},{:.6g},{:.6f}\n", row.path, row.rtt.value * 1e3, row.connections,
                       row.measured.value, row.predicted.value, row.judged().error().value_or(0));
  for (const auto& row : validation.rounds)
    out += fmt::format("rounds,{},{},{},{:.6g},{:.6g},{:.6f}\n", row.technique, row.rate, row.inner_steps,
                       row.measured.value, row.predicted.value, row.judged().error().value_or(0));
  return out;
}

}  // namespace slmsim
