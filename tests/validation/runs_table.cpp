#include <fmt/format.h>

#include "sim/predict/row.h"
#include "tests/validation/tables.h"

namespace slmsim {

std::string to_markdown(const RunsValidation& validation) {
  std::string out =
      "| source | runs | mean absolute error | median, with its sign | worst | fit in memory "
      "|\n|---|--:|--:|--:|--:|--:|\n";
  for (const auto& one : validation.sources)
    out += fmt::format("| {} | {} | {:.1f} % | {:+.1f} % | {:.1f} % | {} of {} |\n", one.source, one.errors.cells,
                       100 * one.errors.mean, 100 * one.median, 100 * one.errors.worst, one.fit, one.errors.cells);
  out += "\n| source | run | tokens/s per GPU | predicted | error | fits |\n|---|---|--:|--:|--:|---|\n";
  for (const auto& run : validation.runs)
    out += fmt::format("| {} | {} | {:.0f} | {:.0f} | {:+.1f} % | {} |\n", run.source, run.what, run.measured,
                       run.predicted(), 100 * run.judged().error().value_or(0), run.fits() ? "yes" : "no (differs)");
  return out;
}

std::string to_csv(const RunsValidation& validation) {
  std::string out = "source,what,scenario,tokens_per_second_per_gpu,predicted,error,fits\n";
  for (const auto& run : validation.runs)
    out += fmt::format("{},{},{},{:g},{:.6g},{:.6f},{}\n", csv_cell(run.source), csv_cell(run.what),
                       csv_cell(run.scenario), run.measured, run.predicted(), run.judged().error().value_or(0),
                       run.fits() ? "yes" : "no");
  return out;
}

}  // namespace slmsim
