#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/name_in.h"
#include "sim/predict/row.h"
#include "sim/report/phrases.h"
#include "sim/report/tables.h"

namespace slmsim {
namespace {

std::string precision_text(Precision precision) { return name_in(precision_names(), precision); }

std::string percent(std::optional<double> error) { return error ? fmt::format("{:+.1f} %", 100 * *error) : ""; }

std::string summary_line(const std::string& what, const ErrorSummary& summary) {
  if (summary.cells == 0) return fmt::format("{}: nothing to compare.\n", what);
  return fmt::format("{}: {} cells, median absolute error {:.1f} %, worst {:.1f} %.\n", what, summary.cells,
                     100 * summary.median, 100 * summary.worst);
}

std::string predicted_status(const StepComparison& step) {
  const auto& status = step.prediction.status;
  return status == Status::kOk ? "" : status == Status::kOutOfMemory ? "out of memory" : "cannot run";
}

std::string time_cell(Seconds time) { return fmt::format("{:.2f}", 1e3 * time.value); }
std::string memory_cell(Bytes size) { return fmt::format("{:.2f}", size.value / kGibi); }

}  // namespace

std::string to_markdown(const std::vector<StepComparison>& steps, const std::vector<SkippedStep>& skipped) {
  std::string out =
      "| GPU | step | GPUs | stack | measured, ms | predicted | error | peak allocated, GiB | predicted | error | "
      "peak reserved |\n|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n";
  std::vector<std::optional<double>> times, memories;
  std::map<std::string, std::pair<std::vector<std::optional<double>>, std::vector<std::optional<double>>>> by_stack;
  TimeBasis basis;
  int agree = 0;
  for (const auto& step : steps) {
    const auto& m = step.measured;
    const auto& p = step.prediction;
    const std::string stack = m.stack() + (m.flash ? ", flash" : "");
    times.push_back(step.time_error());
    memories.push_back(step.memory_error());
    auto& own = by_stack[stack + (m.stack() == "eager" ? std::string(" ") + precision_text(m.precision) : "")];
    own.first.push_back(times.back());
    own.second.push_back(memories.back());
    agree += step.status_agrees() ? 1 : 0;
    if (p.basis) basis += *p.basis;
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", printable(m.gpu), printable(m.title),
                    m.gpus, stack, m.out_of_memory ? "out of memory" : time_cell(m.step),
                    p.status == Status::kOk ? time_cell(p.iteration) : predicted_status(step),
                    percent(step.time_error()), m.peak ? memory_cell(*m.peak) : "", memory_cell(step.predicted_peak()),
                    percent(step.memory_error()), m.reserved ? memory_cell(*m.reserved) : "");
  }
  out +=
      "\n| stack | steps | time, median error | worst | peak memory, median error | worst "
      "|\n|---|--:|--:|--:|--:|--:|\n";
  const auto summary = [&](const std::string& what, const auto& time, const auto& memory) {
    const ErrorSummary t = summary_of_errors(time), b = summary_of_errors(memory);
    out += fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n", what, time.size(), 100 * t.median,
                       100 * t.worst, 100 * b.median, 100 * b.worst);
  };
  for (const auto& [stack, errors] : by_stack) summary(stack, errors.first, errors.second);
  summary("all", times, memories);
  out +=
      fmt::format("\n{}{}Fits in memory or not: {} of {} agree.\n", summary_line("Step time", summary_of_errors(times)),
                  summary_line("Peak memory", summary_of_errors(memories)), agree, steps.size());
  out += basis.total() > Seconds{0}
             ? fmt::format("Computation: {}.\n", basis_text(basis))
             : "Computation: by the data sheet's roofline and the software's efficiency; no kernel was measured.\n";
  if (!skipped.empty()) out += "\nNot compared:\n\n";
  for (const auto& [title, why] : skipped) out += fmt::format("- {}: {}\n", printable(title), why);
  return out;
}

std::string to_csv(const std::vector<StepComparison>& steps) {
  std::string out =
      "gpu,step,stack,model,gpus,batch_per_gpu,precision,measured_status,predicted_status,measured_step_s,"
      "predicted_step_s,measured_peak_bytes,predicted_peak_bytes,measured_reserved_bytes\n";
  for (const auto& step : steps) {
    const auto& m = step.measured;
    const auto& p = step.prediction;
    const auto cell = [](bool known, double value) { return known ? fmt::format("{:.9g}", value) : std::string(); };
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(m.gpu), csv_cell(m.title), m.stack(), m.model, m.gpus,
        m.batch, name_in(precision_names(), m.precision), m.out_of_memory ? "oom" : "ok", name_of(p.status),
        cell(!m.out_of_memory, m.step.value), cell(p.status == Status::kOk, p.iteration.value),
        cell(m.peak.has_value(), m.peak.value_or(Bytes{}).value), cell(!p.memory.empty(), step.predicted_peak().value),
        cell(m.reserved.has_value(), m.reserved.value_or(Bytes{}).value));
  }
  return out;
}

}  // namespace slmsim
