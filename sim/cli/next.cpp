// slmsim next SCENARIO: the most informative pilot run for the pick.
#include "sim/fit/next.h"

#include <memory>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

constexpr std::size_t kDrawnPoints = 64;

struct NextOptions : ScenarioOptions {
  IntervalRequest interval;
  NextRules rules;
  std::string format = "table";
  double time_limit = 0;
};

int next_verb(const NextOptions& options) {
  if (options.scenarios.size() != 1) throw InputError({}, "slmsim next takes one scenario");
  IntervalRequest asked = options.interval;
  asked.intervals = true;
  const Intervals intervals = intervals_of(asked, options);
  ScenarioOptions fitted = options;
  fitted.overrides = intervals.overrides();
  const Scenario scenario = load_all(fitted).front();
  const auto candidates = candidates_of(scenario);
  const Draws draws = intervals.draws_for(options.scenarios.front(), kDrawnPoints);
  Ensemble ensemble = ensemble_of_rivals(draws, {options.scenarios.front(), options.overrides, candidates, 0, {}},
                                         scenario.selection.objective, kDrawnPoints, stop_at(options.time_limit));
  ensemble.runs = draws.runs;
  if (ensemble.size() == 0) throw InputError({}, "stopped before anything was predicted");
  const auto open = open_candidates(ensemble);
  NextRules rules = options.rules;
  rules.trial_epochs = 1;
  rules.seed = options.interval.seed;
  NextReport report{scenario, candidates, draws.fitted_to, {}, draws.remarks};
  for (const auto& model : scenario.models)
    report.picks.push_back(next_run(scenario, ensemble, model.name, open, rules));
  write_result(options.format == "json" ? to_json(report) : to_table(report), options.output);
  return kDone;
}

}  // namespace

Command add_next(CLI::App& app) {
  auto* verb = app.add_subcommand("next", "suggest the most informative pilot run per GPU-minute");
  auto options = std::make_shared<NextOptions>();
  add_scenario_options(*verb, *options);
  verb->add_option("--fitted", options->interval.fitted, "fit to earlier runs (slmsim fit)");
  add_seed(*verb, options->interval.seed, "seed of the weighted points");
  verb->add_option("--sure", options->rules.sure, "probability of the pick from which on no run is suggested")
      ->capture_default_str()
      ->check(number_within(0.5, 0.999));
  verb->add_option("--jobs", options->rules.jobs,
                   "number of jobs that the pick serves; a run is worth its savings over all of them")
      ->capture_default_str()
      ->check(number_within(1.0, 1e6));
  add_format_option(*verb, options->format, {"table", "json"});
  verb->add_option("--time-limit", options->time_limit,
                   "seconds after which it stops with the results so far, which then depend on the machine")
      ->check(number_within(0.001, 1e7));
  verb->footer(R"(
A pilot run is the start-up and 20 iterations, or selection.epsilon_epochs epochs where these are fewer.
Its saving is the reduction of the expected cost of a wrong pick.

Examples:
  slmsim next scenarios/gat-amst.yaml --set models=gpt2m
  slmsim next scenarios/tacc-tacc.yaml --set models=gpt2m --sure 0.95 --format json)");
  return {verb, [options] { return next_verb(*options); }};
}

}  // namespace slmsim
