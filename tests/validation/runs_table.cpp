#include <algorithm>

#include <fmt/format.h>

#include "sim/predict/row.h"
#include "tests/validation/tables.h"

namespace slmsim {

std::string to_markdown(const RunsValidation& validation) {
  std::string out;
  if (!validation.choices.empty()) {
    out += "| source | choice | alternatives | our first | measured best | regret |\n|---|---|--:|---|---|--:|\n";
    double sum = 0, worst = 0;
    for (const auto& one : validation.choices) {
      out += fmt::format("| {} | {} | {} | {} | {} | {:.1f} % |\n", one.source, one.choice, one.alternatives, one.picked,
                         one.best, 100 * one.regret);
      sum += one.regret, worst = std::max(worst, one.regret);
    }
    const auto count = static_cast<double>(validation.choices.size());
    out += fmt::format("\nRegret of {} choices: {:.1f} % on average, {:.1f} % at worst.\n\n", validation.choices.size(),
                       100 * sum / count, 100 * worst);
  }
  const bool peaks = std::any_of(validation.sources.begin(), validation.sources.end(),
                                 [](const SourceErrors& one) { return one.memory.cells > 0; });
  out += fmt::format("| source | runs | median absolute error | mean | median, with its sign | worst | fit in memory |{}\n"
                     "|---|--:|--:|--:|--:|--:|--:|{}\n",
                     peaks ? " peak reserved, median absolute error |" : "", peaks ? "--:|" : "");
  for (const auto& one : validation.sources) {
    out += fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:+.1f} % | {:.1f} % | {} of {} |", one.source, one.errors.cells,
                       100 * one.errors.median, 100 * one.errors.mean, 100 * one.median, 100 * one.errors.worst, one.fit,
                       one.errors.cells);
    if (peaks) out += one.memory.cells > 0 ? fmt::format(" {:.1f} % |", 100 * one.memory.median) : " |";
    out += '\n';
  }
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
