#include "tests/validation/reported_runs.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/fit/measured_step.h"

namespace slmsim {
namespace {

constexpr double kMostTokens = 1e12, kMostSeconds = 1e9;

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
  const auto stated = [&](const char* column) { return row.cells().contains(column) && !row.text(column).empty(); };
  ReportedRun out;
  out.source = row.text("source"), out.what = row.text("what"), out.scenario = row.text("scenario");
  if (stated("choice")) out.choice = row.text("choice");
  if (stated("reserved_gib")) out.reserved = Bytes{row.positive("reserved_gib", 1e4) * 1024 * 1024 * 1024};
  auto predictions = predictions_of(row, root);
  if (predictions.size() != 1)
    row.fail(
        fmt::format("{} with these values makes {} predictions for one measured run; leave one model, one "
                    "technique and one group",
                    out.scenario, predictions.size()));
  out.prediction = std::move(predictions.front());
  if (out.prediction.tokens_per_second <= 0)
    row.fail(fmt::format("{} cannot run with these values: {}", out.scenario, out.prediction.reason));
  if (stated("iteration_s"))
    out.measured = out.predicted() * out.prediction.iteration.value / row.positive("iteration_s", kMostSeconds);
  else
    out.measured = row.positive("tokens_per_second_per_gpu", kMostTokens);
  return out;
}

SourceErrors errors_of(const std::string& source, const std::vector<ReportedRun>& runs) {
  SourceErrors out{source, {}, 0, 0};
  std::vector<Comparison> cells, memory;
  std::vector<double> errors;
  for (const auto& run : runs) {
    if (run.source != source) continue;
    cells.push_back(run.judged());
    errors.push_back(*run.judged().error());
    out.fit += run.fits() ? 1 : 0;
    if (run.reserved.value > 0) memory.push_back({run.reserved.value, run.predicted_reserved().value});
  }
  out.memory = summary_of(memory);
  out.errors = summary_of(cells);
  out.median = median_of(std::move(errors));
  return out;
}

// Of a choice's rows, the pick is what is predicted to be fastest; rows at the edge of memory come after all others.
std::vector<MeasuredChoice> choices_of(const std::vector<ReportedRun>& runs) {
  std::vector<MeasuredChoice> out;
  std::vector<std::pair<const ReportedRun*, const ReportedRun*>> ends;  // picked and best
  for (const auto& run : runs) {
    if (run.choice.empty()) continue;
    const auto known = std::find_if(out.begin(), out.end(), [&](const MeasuredChoice& one) {
      return one.source == run.source && one.choice == run.choice;
    });
    if (known == out.end()) {
      out.push_back({run.source, run.choice, 1, "", "", 0});
      ends.emplace_back(&run, &run);
      continue;
    }
    ++known->alternatives;
    auto& [picked, best] = ends[static_cast<std::size_t>(known - out.begin())];
    const auto rank = [](const ReportedRun& one) {
      return std::pair(-static_cast<int>(one.prediction.fit), one.predicted());
    };
    if (rank(run) > rank(*picked)) picked = &run;
    if (run.measured > best->measured) best = &run;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [picked, best] = ends[i];
    out[i].picked = picked->what, out[i].best = best->what;
    out[i].regret = best->measured / picked->measured - 1;
  }
  std::erase_if(out, [](const MeasuredChoice& one) { return one.alternatives == 1; });
  return out;
}

}  // namespace

Bytes ReportedRun::predicted_reserved() const {
  Bytes most;
  for (const DeviceMemory& one : prediction.memory) most = std::max(most, one.reserved());
  return most;
}

bool ReportedRun::fits() const {
  const auto& memory = prediction.memory;
  return std::all_of(memory.begin(), memory.end(), [](const DeviceMemory& one) { return one.fits(); });
}

RunsValidation validate_runs(const std::filesystem::path& root, const std::filesystem::path& table) {
  RunsValidation out;
  const auto rows =
      read_table(table, {"source", "what", "scenario", "set"}, "tests/reference/runs.csv");
  for (const TableRow& row : rows) out.runs.push_back(run_of(row, root));
  for (const auto& run : out.runs) {
    const auto known = [&](const SourceErrors& one) { return one.source == run.source; };
    if (std::none_of(out.sources.begin(), out.sources.end(), known))
      out.sources.push_back(errors_of(run.source, out.runs));
  }
  out.choices = choices_of(out.runs);
  return out;
}

}  // namespace slmsim
