#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"
#include "sim/report/tables.h"

namespace slmsim {
namespace {

constexpr std::size_t kListed = 8;

std::string regret_text(const NextReport& report, double regret) {
  switch (report.scenario.selection.objective) {
    case Objective::kTime:
      return duration(Seconds{regret});
    case Objective::kGpuHours:
      return fmt::format("{:.3g} GPU-h", regret);
    case Objective::kTflopsPerGpu:
      break;
  }
  return "-";
}

std::string verdict(const NextReport& report, const NextPick& pick) {
  if (pick.runs.empty() || pick.stop)
    return fmt::format("stop: no run is worth its time; take {}", report.candidates[pick.pick].text());
  return fmt::format("run next: {}", report.candidates[pick.runs.front().candidate].text());
}

}  // namespace

std::string to_table(const NextReport& report) {
  std::string out = fmt::format("{}, {}\n", report.scenario.name,
                                report.fitted_to.empty() ? "nothing measured yet" : "fitted to " + report.fitted_to);
  for (const auto& remark : report.remarks) out += fmt::format("remark: {}\n", remark);
  for (const auto& pick : report.picks) {
    out += fmt::format("\n{}\n  pick now: {}, right with a probability of {:.0f} %, on average {} behind the best\n",
                       pick.model, report.candidates[pick.pick].text(), 100 * pick.right,
                       regret_text(report, pick.regret));
    const auto name_of = [&](const NextRun& run) { return report.candidates[run.candidate].text(); };
    const auto listed = std::span(pick.runs).first(std::min(kListed, pick.runs.size()));
    const std::size_t width = column_width(listed, 40, name_of);
    out += fmt::format("  {}\n\n  {:<{}} {:>10} {:>12} {:>10} {:>8}\n", verdict(report, pick), "pilot run", width,
                       "takes", "GPU-minutes", "saves", "right");
    for (const NextRun& run : listed) {
      out += fmt::format("  {:<{}} {:>10} {:>12.1f} {:>10} {:>6.0f} %\n", name_of(run), width,
                         duration(Seconds{60 * run.minutes}), run.gpu_minutes, regret_text(report, run.saved),
                         100 * run.right);
    }
  }
  return out;
}

std::string to_json(const NextReport& report) {
  const auto candidate_json = [&](std::size_t c) -> Json {
    const Candidate& candidate = report.candidates[c];
    return {{"model", candidate.model}, {"technique", candidate.technique}, {"group", candidate.group}};
  };
  Json picks = Json::array();
  for (const auto& pick : report.picks) {
    Json runs = Json::array();
    for (const auto& run : pick.runs) {
      runs.push_back({{"run", candidate_json(run.candidate)},
                      {"minutes", rounded(run.minutes)},
                      {"gpu_minutes", rounded(run.gpu_minutes)},
                      {"saves", rounded(run.saved)},
                      {"probability", rounded(run.right)}});
    }
    picks.push_back({{"model", pick.model},
                     {"pick", candidate_json(pick.pick)},
                     {"probability", rounded(pick.right)},
                     {"regret", rounded(pick.regret)},
                     {"stop", pick.stop},
                     {"runs", runs}});
  }
  const auto& objective = name_in(objective_names(), report.scenario.selection.objective);
  return Json({{"schema", "slmsim/next/1"},
               {"scenario", report.scenario.name},
               {"fitted_to", report.fitted_to},
               {"objective", objective},
               {"remarks", report.remarks},
               {"picks", picks}})
             .dump(2) +
         "\n";
}

}  // namespace slmsim
