// slmsim next SCENARIO: the most informative pilot run for the pick.
#include "sim/fit/next.h"

#include <memory>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/report/tables.h"

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
  const bool json = index_of("--format", options.format, {"table", "json"}) == 1;
  if (options.scenarios.size() != 1) throw InputError({}, "slmsim next takes one scenario");
  IntervalRequest asked = options.interval;
  asked.intervals = true;
  const Intervals intervals = intervals_of(asked, options);
  ScenarioOptions fitted = options;
  fitted.overrides = intervals.overrides();
  const Scenario scenario = load_all(fitted).front();
  const auto candidates = candidates_of(scenario);
  Forecaster forecaster({{options.scenarios.front(), options.overrides, candidates, 0, {}}});
  const Draws draws = intervals.draws_for(options.scenarios.front(), kDrawnPoints);
  Ensemble ensemble = ensemble_of(draws, forecaster, kDrawnPoints, stop_at(options.time_limit));
  ensemble.runs = draws.runs;
  if (ensemble.size() == 0) throw InputError({}, "stopped before anything was predicted");
  const auto open = open_candidates(ensemble);
  NextRules rules = options.rules;
  rules.trial_epochs = 1;
  rules.seed = options.interval.seed;
  NextReport report{scenario, candidates, draws.fitted_to, {}};
  for (const auto& model : scenario.models)
    report.picks.push_back(next_run(scenario, ensemble, model.name, open, rules));
  write_result(json ? to_json(report) : to_table(report), options.output);
  return kDone;
}

}  // namespace

Command add_next(CLI::App& app) {
  auto* verb = app.add_subcommand("next", "tell which pilot run says most about the pick for the GPU-minutes it takes");
  auto options = std::make_shared<NextOptions>();
  add_scenario_options(*verb, *options);
  verb->add_option("--fitted", options->interval.fitted, "what runs told before (slmsim fit)");
  add_seed(*verb, options->interval.seed, "of the points that are weighed; another seed, other points");
  verb->add_option("--sure", options->rules.sure, "probability of the pick at which no run is worth it")
      ->capture_default_str()
      ->check(number_within(0.5, 0.999));
  verb->add_option("--jobs", options->rules.jobs,
                   "so many jobs like this one are to come: a run is worth what it saves of all of them")
      ->capture_default_str()
      ->check(number_within(1.0, 1e6));
  verb->add_option("--format,-f", options->format, "table or json")->capture_default_str();
  verb->add_option("--time-limit", options->time_limit,
                   "seconds after which it ends with the points it has; the result then depends on the machine")
      ->check(number_within(0.001, 1e7));
  verb->footer(R"(
A pilot run is the start-up and 20 iterations, or selection.epsilon_epochs epochs where these are fewer. What it saves is of the expected cost of a wrong pick.

Examples:
  slmsim next scenarios/gat-amst.yaml --set models=gpt2m
  slmsim next scenarios/tacc-tacc.yaml --set models=gpt2m --sure 0.95 --format json)");
  return {verb, [options] { return next_verb(*options); }};
}

}  // namespace slmsim
