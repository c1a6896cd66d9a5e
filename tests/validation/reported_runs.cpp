#include "tests/validation/reported_runs.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/fit/error_summary.h"

namespace slmsim {
namespace {

constexpr double kMostTokens = 1e12;

Overrides overrides_in(const std::string& text) {
  Overrides out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(';', from), text.size());
    const std::size_t first = std::min(text.find_first_not_of(' ', from), end);
    if (first < end) out.push_back(text.substr(first, end - first));
    from = end + 1;
  }
  return out;
}

// Errors of the scenario under these values are reported at their row.
std::vector<Prediction> predictions_of(const TableRow& row, const std::filesystem::path& root) {
  try {
    return predict(load_scenario(root / row.text("scenario"), overrides_in(row.text("set"))),
                   {.advice = false, .ignore_memory = true});
  } catch (const InputError& error) {
    row.fail(error.what());
  }
}

ReportedRun run_of(const TableRow& row, const std::filesystem::path& root) {
  ReportedRun out{row.text("source"), row.text("what"), row.text("scenario"), 0, {}};
  out.measured = row.positive("tokens_per_second_per_gpu", kMostTokens);
  auto predictions = predictions_of(row, root);
  if (predictions.size() != 1)
    row.fail(
        fmt::format("{} with these values makes {} predictions for one measured run; leave one model, one "
                    "technique and one group",
                    out.scenario, predictions.size()));
  out.prediction = std::move(predictions.front());
  if (out.prediction.tokens_per_second <= 0)
    row.fail(fmt::format("{} cannot run with these values: {}", out.scenario, out.prediction.reason));
  return out;
}

SourceErrors errors_of(const std::string& source, const std::vector<ReportedRun>& runs) {
  SourceErrors out{source, {}, 0, 0};
  std::vector<Comparison> cells;
  std::vector<double> errors;
  for (const auto& run : runs) {
    if (run.source != source) continue;
    cells.push_back(run.judged());
    errors.push_back(*run.judged().error());
    out.fit += run.fits() ? 1 : 0;
  }
  out.errors = summary_of(cells);
  out.median = median_of(std::move(errors));
  return out;
}

}  // namespace

bool ReportedRun::fits() const {
  const auto& memory = prediction.memory;
  return std::all_of(memory.begin(), memory.end(), [](const DeviceMemory& one) { return one.fits(); });
}

RunsValidation validate_runs(const std::filesystem::path& root, const std::filesystem::path& table) {
  RunsValidation out;
  const auto rows =
      read_table(table, {"source", "what", "scenario", "set", "tokens_per_second_per_gpu"}, "tests/reference/runs.csv");
  for (const TableRow& row : rows) out.runs.push_back(run_of(row, root));
  for (const auto& run : out.runs) {
    const auto known = [&](const SourceErrors& one) { return one.source == run.source; };
    if (std::none_of(out.sources.begin(), out.sources.end(), known))
      out.sources.push_back(errors_of(run.source, out.runs));
  }
  return out;
}

}  // namespace slmsim
