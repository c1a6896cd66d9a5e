
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/json_values.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

std::vector<Assumption> assumptions_of_all(const ExplainResult& result) {
  std::vector<const Prediction*> predictions;
  for (const auto& e : result.explanations) predictions.push_back(&e.prediction);
  return assumptions_of(result.scenario, predictions);
}

void add_explanation(std::string& out, const Explanation& e) {
  const Prediction& p = e.prediction;
  out += fmt::format("\n{}, {} on {}: ", p.model, p.technique->name, group_text(p.group));
  if (p.status != Status::kOk) {
    out += fmt::format("{}; {}\n", p.status == Status::kOutOfMemory ? "out of memory" : "cannot run", p.reason);
    return;
  }
  out += fmt::format("{} per iteration\n  {}\n", to_text(p.iteration), e.advice);
  const std::size_t width = column_width(e.limits.single, 0, [](const auto& limit) { return limit.name; });
  for (const auto& limit : e.limits.single) {
    out += fmt::format("  gives back {:>8}  {:>4.0f} %  {:<{}}  {}\n", to_text(limit.given_back),
                       100 * (limit.given_back / p.iteration), limit.name, width, limit.what);
  }
  const auto share = [&](Seconds of) { return fmt::format("{:.0f} %", 100 * (of / p.iteration)); };
  for (const auto& pair : e.limits.pairs) {
    out += fmt::format("  hidden     {} and {} give back {} ({}) together, {} and {} alone\n", pair.first, pair.second,
                       to_text(pair.together), share(pair.together), to_text(pair.alone_first),
                       to_text(pair.alone_second));
  }
  std::vector<std::string> in_turn;
  for (const auto& limit : e.limits.in_turn)
    in_turn.push_back(fmt::format("{} {}", fmt::join(limit.names, " with "), share(limit.given_back)));
  if (!in_turn.empty())
    out += fmt::format("  in turn    {}; {} is left\n", fmt::join(in_turn, ", then "), share(e.limits.left));
  for (const auto& change : e.what_ifs) {
    out += fmt::format("  takes      {:>8}  {:>+4.0f} %  --set {}\n", to_text(change.iteration),
                       100 * (change.iteration / p.iteration - 1), set_words(change.set));
  }
}

Json explanation_json(const Explanation& e) {
  const Prediction& p = e.prediction;
  Json limits = Json::array(), pairs = Json::array(), in_turn = Json::array(), changes = Json::array();
  for (const auto& limit : e.limits.single)
    limits.push_back({{"name", limit.name}, {"given_back_s", rounded(limit.given_back.value)}, {"what", limit.what}});
  for (const auto& pair : e.limits.pairs) {
    pairs.push_back({{"names", {pair.first, pair.second}},
                     {"given_back_s", rounded(pair.together.value)},
                     {"alone_s", {rounded(pair.alone_first.value), rounded(pair.alone_second.value)}}});
  }
  for (const auto& limit : e.limits.in_turn)
    in_turn.push_back({{"names", limit.names}, {"given_back_s", rounded(limit.given_back.value)}});
  for (const auto& change : e.what_ifs) {
    changes.push_back({{"set", change.set},
                       {"iteration_s", rounded(change.iteration.value)},
                       {"minutes", rounded(change.job.value / 60)}});
  }
  Json out = head_json(p);
  out.update({{"breakdown_s", breakdown_json(p.breakdown)},
              {"latencies",
               {{"between_vms", e.limits.latencies.between_vms},
                {"inside_vms", e.limits.latencies.inside_vms},
                {"sum_s", rounded(e.limits.latencies.sum.value)}}},
              {"limits", limits},
              {"pairs", pairs},
              {"in_turn", in_turn},
              {"left_s", rounded(e.limits.left.value)},
              {"what_ifs", changes},
              {"advice", e.advice}});
  return out;
}

}  // namespace

std::string to_explanation_table(const std::vector<ExplainResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format(
        "{}{}: time that an iteration gives back without one limit, and without one limit after the other (in turn);\n"
        "time that it takes with other settings. Each number is a separate prediction: single ones need not add up.\n",
        out.empty() ? "" : "\n", result.scenario.name);
    for (const auto& e : result.explanations) add_explanation(out, e);
    if (result.stopped)
      out += fmt::format("\nstopped before the end: {} explained, others are missing\n", result.explanations.size());
    if (const std::string assumed = assumed_line(assumptions_of_all(result)); !assumed.empty())
      out += "\n" + assumed + "\n";
  }
  return out;
}

std::string to_explanation_json(const std::vector<ExplainResult>& results) {
  Json list = Json::array();
  for (const auto& result : results) {
    Json explanations = Json::array();
    for (const auto& e : result.explanations) explanations.push_back(explanation_json(e));
    list.push_back({{"schema", "slmsim/explain/1"},
                    {"scenario", result.scenario.name},
                    {"explanations", explanations},
                    {"stopped", result.stopped},
                    {"assumed", assumed_json(assumptions_of_all(result))}});
  }
  return (list.size() == 1 ? list.front() : list).dump(2) + "\n";
}

}  // namespace slmsim
