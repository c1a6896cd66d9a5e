// slmsim fit SCENARIO --measured FILE: fits unknown values to pilot runs.

#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/predict/algorithm.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

struct FitOptions {
  std::string scenario, measured, output;
  Overrides overrides;
  std::uint64_t seed = 1;
  std::size_t points = 256;
  double time_limit = 0;
};

int fit_verb(const FitOptions& options) {
  ScenarioFit request{options.scenario, options.overrides, options.measured, {}};
  request.sampling.particles = options.points;
  request.sampling.seed = options.seed;
  request.sampling.stop = stop_at(options.time_limit);
  ProgressLine line;
  request.sampling.progress = [&](double beta, std::size_t evaluated) {
    line.update(fmt::format("weight of the runs {:.2g} %, {} points tried", 100 * beta, evaluated));
  };
  const FitReport report = fit_scenario(request);
  line.clear();
  if (!options.output.empty()) write_result(to_yaml(report), options.output);
  write_result(to_table(report), "");
  return kDone;
}

// slmsim next SCENARIO: the most informative pilot run for the pick.

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
  if (ensemble.size() == 0) throw InputError({}, "stopped before anything was predicted");
  const auto predictions = predict(scenario, {.advice = false});
  const StandingRuns standing = standing_runs(draws, candidates, forecasts_of(predictions));
  ensemble.runs = standing.runs;
  const auto open = open_candidates(ensemble);
  NextRules rules = options.rules;
  rules.trial_epochs = 1;
  rules.seed = options.interval.seed;
  NextReport report{scenario, candidates, draws.fitted_to, {}, standing.remarks};
  // In the order of the scenario's models.
  for (const Selection& pick : select_techniques(scenario, predictions, Algorithm::kAmended)) {
    const auto at = std::ranges::find_if(candidates, [&](const Candidate& c) {
      return pick.technique && c.model == pick.model && c.technique == pick.technique->name && c.group == pick.group;
    });
    const auto selected =
        at == candidates.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - candidates.begin()));
    report.picks.push_back(next_run(scenario, ensemble, pick.model, open, rules, selected));
    report.selected.push_back(selected);
  }
  write_result(options.format == "json" ? to_json(report) : to_table(report), options.output);
  return std::ranges::any_of(report.picks, &NextPick::is_possible) ? kDone : kNothingFits;
}

}  // namespace

Command add_fit(CLI::App& app) {
  auto* verb = app.add_subcommand("fit", "fit a scenario's unknowns to measured runs");
  auto options = std::make_shared<FitOptions>();
  verb->add_option("SCENARIO", options->scenario, "a scenario's file, or a name as slmsim list scenarios prints it")
      ->required()
      ->transform(scenario_file);
  verb->add_option("--measured", options->measured,
                   "table of runs (CSV) with the columns model, technique, group, what, value and noise")
      ->required();
  add_output_option(*verb, options->output, "write the fit to this file, which slmsim run --fitted takes");
  add_set_option(*verb, options->overrides);
  add_seed(*verb, options->seed, "seed of the random numbers; the same seed gives the same fit");
  verb->add_option("--points", options->points, "number of points that represent the result")
      ->capture_default_str()
      ->check(number_within(kPointsRange));
  add_time_limit(*verb, options->time_limit);
  verb->footer(R"(
Unknowns are values with stated choices or ranges, {value: 8, one_of: [4, 8, 16]} or {value: 1 GB/s,
between: [0.3 GB/s, 3 GB/s], scale: log}, inferred and assumed values, and defaults that differ between machines;
docs/commands/fit.md lists them.

Values of the column what: job, iteration (with a unit), peak_memory, tokens_per_second, tflops_per_gpu, fits (yes or no),
or log, a file with the steps that Megatron-LM, DeepSpeed, torchtitan or Alpa printed; for the network alone nccl-tests,
the output of all_reduce_perf, or netprobe, a path that slmsim-netprobe or iperf3 measured from one VM to another:
  model,technique,group,what,value
  gpt2m,Data,gat+amst,iteration,58.1 s
  gpt2m,Shard,gat,fits,yes
  gpt2m,Data,gat,log,data.log
  ,,gat+amst,nccl-tests,all_reduce_perf.txt
  ,,gat+amst,netprobe,gat-amst.yaml

Examples:
  slmsim fit scenarios/gat-amst.yaml --measured runs.csv -o fitted.yaml
  slmsim run scenarios/gat-amst.yaml --fitted fitted.yaml)");
  return {verb, [options] { return fit_verb(*options); }};
}

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
  add_time_limit(*verb, options->time_limit);
  verb->footer(R"(
A pilot run is the start-up and 20 iterations, or selection.epsilon_epochs epochs where these are fewer.
Its saving is the reduction of the expected cost of a wrong pick. A pick that does not run costs its pilot run and
the next one's time.

Examples:
  slmsim next scenarios/gat-amst.yaml --set models=gpt2m
  slmsim next scenarios/tacc-tacc.yaml --set models=gpt2m --sure 0.95 --format json)");
  return {verb, [options] { return next_verb(*options); }};
}

}  // namespace slmsim
