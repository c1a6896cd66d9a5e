#include "sim/report/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/report/json_values.h"

namespace slmsim {
namespace {

void add_explanation(std::string& out, const Explanation& e) {
  const Prediction& p = e.prediction;
  out += fmt::format("\n{}, {} on {}: ", p.model, p.technique->name, group_text(p.group));
  if (p.status != Status::kOk) {
    out += fmt::format("{}; {}\n", p.status == Status::kOutOfMemory ? "out of memory" : "cannot run", p.reason);
    return;
  }
  out += fmt::format("{} per iteration\n", to_text(p.iteration));
  for (const auto& limit : e.limits) {
    out += fmt::format("  gives back {:>8}  {:>4.0f} %  {:<13}  {}\n", to_text(limit.given_back),
                       100 * (limit.given_back / p.iteration), limit.name, limit.what);
  }
  for (const auto& change : e.what_ifs) {
    out += fmt::format("  takes      {:>8}  {:>+4.0f} %  --set {}\n", to_text(change.iteration),
                       100 * (change.iteration / p.iteration - 1), fmt::join(change.set, " --set "));
  }
  out += fmt::format("  {}\n", e.advice);
}

Json explanation_json(const Explanation& e) {
  const Prediction& p = e.prediction;
  Json limits = Json::array(), changes = Json::array();
  for (const auto& limit : e.limits)
    limits.push_back({{"name", limit.name}, {"given_back_s", rounded(limit.given_back.value)}, {"what", limit.what}});
  for (const auto& change : e.what_ifs) {
    changes.push_back({{"set", change.set},
                       {"iteration_s", rounded(change.iteration.value)},
                       {"minutes", rounded(change.job.value / 60)}});
  }
  Json out = head_json(p);
  out.update({{"breakdown_s", breakdown_json(p.breakdown)},
              {"latencies",
               {{"between_vms", e.latencies.between_vms},
                {"inside_vms", e.latencies.inside_vms},
                {"sum_s", rounded(e.latencies.sum.value)}}},
              {"limits", limits},
              {"what_ifs", changes},
              {"advice", e.advice}});
  return out;
}

}  // namespace

std::string to_explanation_table(const std::vector<ExplainResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format(
        "{}{}: what an iteration gives back if one thing is without limit and all else as it is, and what it takes\n"
        "with other settings. Each number is a prediction of its own, so they need not add up.\n",
        out.empty() ? "" : "\n", result.scenario.name);
    for (const auto& e : result.explanations) add_explanation(out, e);
  }
  return out;
}

std::string to_explanation_json(const std::vector<ExplainResult>& results) {
  Json list = Json::array();
  for (const auto& result : results) {
    Json explanations = Json::array();
    for (const auto& e : result.explanations) explanations.push_back(explanation_json(e));
    list.push_back(
        {{"schema", "slmsim/explain/1"}, {"scenario", result.scenario.name}, {"explanations", explanations}});
  }
  return (list.size() == 1 ? list.front() : list).dump(2) + "\n";
}

}  // namespace slmsim
