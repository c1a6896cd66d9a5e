// slmsim explain SCENARIO...: the limits of each technique, and the settings that would help.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

struct ExplainVerb : ScenarioOptions {
  std::string format = "table";
  Filter filter;
  double time_limit = 0;
};

Reload reload_of(const ExplainVerb& options, const std::string& file) {
  return [&options, file](const Overrides& more) -> std::optional<Scenario> {
    Overrides all = options.overrides;
    all.insert(all.end(), more.begin(), more.end());
    try {
      Scenario scenario = load_scenario(file, all);
      narrow(scenario, options.filter);
      return scenario;
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
}

std::size_t predictions_of(const Scenario& scenario) {
  return scenario.models.size() * scenario.groups.size() * scenario.techniques.size();
}

int explain_all(const ExplainVerb& verb) {
  ExplainOptions options;
  ProgressLine line(true);
  options.on_progress = [&line](std::size_t done, std::size_t all, std::size_t cases) {
    line.update(fmt::format("{} of {} explained{}", done, all,
                            cases > 0 ? fmt::format(", {} cases of the next simulated", cases) : ""));
  };
  std::vector<ExplainResult> results;
  std::vector<std::string> files;
  auto scenarios = load_filtered(verb, verb.filter, &files);
  options.stop = stop_at(verb.time_limit);
  options.partial = true;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    options.reload = reload_of(verb, files[i]);
    auto explanations = explain(scenarios[i], options);
    const bool stopped = explanations.size() < predictions_of(scenarios[i]);
    results.push_back({std::move(scenarios[i]), std::move(explanations), stopped});
  }
  line.clear();
  write_result(verb.format == "json" ? to_explanation_json(results) : to_explanation_table(results), verb.output);
  end_as_asked();
  const bool any = std::ranges::any_of(results, [](const ExplainResult& result) {
    return std::ranges::any_of(result.explanations,
                               [](const Explanation& e) { return e.prediction.status == Status::kOk; });
  });
  return any ? kDone : kNothingFits;
}

}  // namespace

Command add_explain(CLI::App& app) {
  auto* verb = app.add_subcommand("explain", "explain what limits each technique and which settings would help");
  auto options = std::make_shared<ExplainVerb>();
  add_scenario_options(*verb, *options);
  add_format_option(*verb, options->format, {"table", "json"});
  add_filter_options(*verb, options->filter);
  verb->add_option("--time-limit", options->time_limit,
                   "seconds after which it stops with the results so far, which then depend on the machine")
      ->check(number_within(0.001, 1e7));
  verb->footer(R"(
Each number is a separate prediction: without one limit, without two that hide each other, without one after the other
until at most a tenth of the time is left, or with one setting changed.

Examples:
  slmsim explain scenarios/gat-amst.yaml --set models=gpt2m --set groups=all
  slmsim explain scenarios/gat-amst.yaml --technique Data --format json --output limits.json)");
  return {verb, [options] { return explain_all(*options); }};
}

}  // namespace slmsim
