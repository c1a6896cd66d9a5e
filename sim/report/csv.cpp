#include <algorithm>

#include "sim/predict/row.h"
#include "sim/report/phrases.h"
#include "sim/report/report.h"

namespace slmsim {

std::string to_csv(const std::vector<RunResult>& results) {
  const bool intervals = !results.empty() && results.front().uncertainty;
  const bool jobs =
      std::any_of(results.begin(), results.end(), [](const auto& result) { return !result.jobs.empty(); });
  std::string out = csv_header() + (intervals ? interval_header() : "") + (jobs ? job_header() : "") + "\n";
  for (const auto& result : results) {
    for (std::size_t i = 0; i < result.predictions.size(); ++i) {
      out += csv_line(row_of(result.scenario.name, result.predictions[i]));
      out += intervals ? interval_cells(*result.uncertainty, i) : "";
      out += (jobs ? job_cells(result.jobs.empty() ? std::nullopt : result.jobs[i]) : "") + "\n";
    }
  }
  return out;
}

}  // namespace slmsim
