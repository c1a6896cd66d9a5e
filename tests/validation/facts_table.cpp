#include <fmt/format.h>

#include "tests/validation/study_text.h"
#include "tests/validation/tables.h"

namespace slmsim {
namespace {

std::string figure(const std::optional<Comparison>& cell, int digits) {
  if (!cell) return " | | ";
  if (!cell->predicted) return fmt::format("{:.{}f} | does not run | ", cell->measured, digits);
  return fmt::format("{:.{}f} | {:.{}f} | {}", cell->measured, digits, *cell->predicted, digits, error_text(*cell, 0));
}

std::string status_text(const Fact& fact) {
  const std::string predicted = fact.prediction.status == Status::kOk            ? "ok"
                                : fact.prediction.status == Status::kOutOfMemory ? "oom"
                                                                                 : "cannot run";
  return fmt::format("{} | {}{}", fact.status, predicted, fact.status_agrees() ? "" : " (differs)");
}

}  // namespace

std::string to_markdown(const Validation& validation) {
  std::string out =
      "| slice | GPUs | model | technique | min measured | min predicted | error | TFLOP/s measured | "
      "predicted | error | status measured | predicted |\n"
      "|---|---|---|---|--:|--:|--:|--:|--:|--:|---|---|\n";
  for (const auto& fact : validation.facts) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", fact.slice, fact.gpus, fact.model, fact.technique,
                       figure(fact.minutes_judged(), 0), figure(fact.rate_judged(), 2), status_text(fact));
  }
  const auto& s = validation.summary;
  out += fmt::format("\nTwo-VM gpt2m minutes: {}. Fits in memory or not: {} of {} facts agree.\n",
                     summary_text(s.minutes), s.status_agree, s.status_cells);
  out += fitted_table(validation.fitted);
  return out;
}

std::string to_csv(const Validation& validation) {
  std::string out =
      "slice,gpus,model,technique,measured_minutes,predicted_minutes,measured_tflops_per_gpu,predicted_tflops_per_gpu,"
      "measured_status,predicted_status\n";
  const auto cell = [](bool known, double value) { return known ? fmt::format("{:.9g}", value) : std::string(); };
  for (const auto& fact : validation.facts) {
    const Prediction& p = fact.prediction;
    const bool runs = p.status == Status::kOk;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", fact.slice, fact.gpus, fact.model, fact.technique,
                       cell(fact.minutes.has_value(), fact.minutes.value_or(0)), cell(runs, p.job.value / 60),
                       cell(fact.tflops_per_gpu.has_value(), fact.tflops_per_gpu.value_or(0)),
                       cell(runs, p.rate_per_gpu.value / kTera), fact.status, name_of(p.status));
  }
  return out;
}

}  // namespace slmsim
