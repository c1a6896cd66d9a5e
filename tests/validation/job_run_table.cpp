#include <fmt/format.h>

#include "sim/predict/row.h"
#include "tests/validation/tables.h"

namespace slmsim {

std::string to_markdown(const JobValidation& validation) {
  std::string out =
      "| run | stretch | goodput, % | predicted | error | not training, h | predicted "
      "|\n|---|---|--:|--:|--:|--:|--:|\n";
  for (const JobRun& run : validation.runs)
    out += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:+.1f} % | {:.0f} | {:.0f} |\n", run.run, run.stretch,
                       100 * run.measured, 100 * run.predicted, 100 * run.judged().error().value_or(0),
                       run.lost.value / 3600, run.lost_drawn.value / 3600);
  return out + fmt::format("\nGoodput: {} runs, mean absolute error {:.1f} %, worst {:.1f} %; nothing fitted.\n",
                           validation.errors.cells, 100 * validation.errors.mean, 100 * validation.errors.worst);
}

std::string to_csv(const JobValidation& validation) {
  std::string out = "run,stretch,goodput,predicted,error,lost_h,predicted_lost_h,source\n";
  for (const JobRun& run : validation.runs)
    out += fmt::format("{},{},{:.6g},{:.6g},{:.6f},{:.6g},{:.6g},{}\n", csv_cell(run.run), csv_cell(run.stretch),
                       run.measured, run.predicted, run.judged().error().value_or(0), run.lost.value / 3600,
                       run.lost_drawn.value / 3600, csv_cell(run.source));
  return out;
}

}  // namespace slmsim
