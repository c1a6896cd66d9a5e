// slmsim run SCENARIO...: predict every technique on every group, then select.
#include <algorithm>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

struct RunOptions : ScenarioOptions {
  std::string format = "table", trace, timeline, engine = "slmsim";
  Filter filter;
  bool link_use = false;
  bool plan = false;
  bool whole = false;
  bool steps = false, all = false, assumed = false;  // of the table
  IntervalRequest interval;
};

std::vector<std::string> plans_for(const Scenario& scenario) {
  PlanJob job;
  job.list = 1;
  job.explain = false;
  PlanCrewOptions options;
  options.jobs = available_cores();
  const auto report = find_plans(scenario, job, options);
  std::vector<std::string> out;
  for (const auto& planned : report.models) out.push_back(best_plan(planned));
  return out;
}

RunResult predict_and_select(Scenario scenario, const PredictOptions& options, bool plan = false) {
  // Runs first, because its workers are copies of this process without an engine.
  std::vector<std::string> plans = plan ? plans_for(scenario) : std::vector<std::string>{};
  RunResult result = run_scenario(std::move(scenario), options);
  result.plans = std::move(plans);
  return result;
}

bool anything_runs(const std::vector<RunResult>& results) {
  return std::ranges::any_of(results, [](const RunResult& r) {
    return std::ranges::any_of(r.predictions, [](const Prediction& p) { return p.status == Status::kOk; });
  });
}

// https://no-color.org: any value but an empty one.
bool has_colour(const std::string& output) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return output.empty() && isatty(STDOUT_FILENO) == 1 && !dumb && (no_colour == nullptr || *no_colour == '\0');
}

std::string tables_of(const RunOptions& options, const Overrides& set, const std::vector<std::string>& files,
                      const std::vector<RunResult>& results) {
  std::string out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    VerdictOptions verdict = verdict_options_of(ScenarioFile(files[i]), set, options.filter);
    verdict.threads = available_cores();
    TableOptions table;
    table.verdicts = verdicts_of(results[i], verdict);
    table.steps = options.steps;
    table.all = options.all;
    table.assumed = options.assumed;
    table.colour = has_colour(options.output);
    table.scenario = files[i];
    out += (out.empty() ? "" : "\n") + to_table(results[i], table);
  }
  return out;
}

int run(const RunOptions& options) {
  const auto format = static_cast<Format>(index_of("--format", options.format, format_names()));
  for (const auto& [given, name] :
       {std::pair{options.all, "--all"}, {options.steps, "--steps"}, {options.assumed, "--assumed"}}) {
    if (given && format != Format::kTable)
      throw InputError({}, fmt::format("{0} is for the table; leave it or --format {1} out", name, options.format));
  }
  if (options.plan && !options.filter.groups.empty())
    throw InputError({}, "--plan searches all groups of GPUs, and --group has no effect on it; leave one of them out");
  if (options.plan && format != Format::kTable && format != Format::kJson)
    throw InputError({}, fmt::format("--plan has no effect on --format {}; leave one of them out", options.format));
  PredictOptions predict_options;
  predict_options.threads = available_cores();
  predict_options.time_misfits = format != Format::kTable;
  predict_options.links = format == Format::kJson || options.link_use || !options.timeline.empty();
  predict_options.timelines = !options.timeline.empty();
  predict_options.whole = options.whole;
  predict_options.simgrid = options.engine == "simgrid";
  const Intervals intervals = intervals_of(options.interval, options);
  ScenarioOptions fitted = options;
  fitted.overrides = intervals.overrides();
  std::vector<std::string> files;
  std::vector<RunResult> results;
  for (auto& scenario : load_filtered(fitted, options.filter, &files)) {
    PredictOptions own = predict_options;
    own.links = measures_links(scenario, predict_options.links, options.link_use || !options.timeline.empty());
    results.push_back(predict_and_select(std::move(scenario), own, options.plan));
    intervals.add(files[results.size() - 1], results.back());
  }
  std::vector<Result> outputs = {
      {format == Format::kTable ? tables_of(options, fitted.overrides, files, results) : to_text(results, format),
       options.output}};
  if (options.link_use && format == Format::kTable) outputs.front().text += to_link_use_table(results);
  if (!options.timeline.empty()) outputs.push_back({to_timeline_csv(results), options.timeline});
  if (!options.trace.empty()) {
    if (const Prediction* traced = to_be_traced(results.front())) {
      outputs.push_back({trace_of(results.front(), *traced), options.trace});
    } else {
      fmt::print(stderr, "slmsim: no trace: nothing fits, so there is no iteration to show\n");
    }
  }
  write_results(outputs);
  return anything_runs(results) ? kDone : kNothingFits;
}

int select(const RunOptions& options) {
  std::string text;
  std::vector<RunResult> results;
  for (auto& scenario : load_filtered(options, options.filter)) {
    results.push_back(predict_and_select(std::move(scenario), {.threads = available_cores()}));
    text += (text.empty() ? "" : "\n") + to_selection_table(results.back());
  }
  write_result(text, options.output);
  return anything_runs(results) ? kDone : kNothingFits;
}

// slmsim explain SCENARIO...: the limits of each technique, and the settings that would help.

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
  options.partial = true;
  options.threads = available_cores();
  options.stop = stop_at(verb.time_limit);
  const Filter& filter = verb.filter;
  options.foremost =
      verb.format == "table" && filter.models.empty() && filter.groups.empty() && filter.techniques.empty();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    options.reload = reload_of(verb, files[i]);
    auto explanations = explain(scenarios[i], options);
    const std::size_t left = predictions_of(scenarios[i]) - explanations.size();
    const bool stopped = left > 0 && options.stop && options.stop();
    results.push_back({std::move(scenarios[i]), std::move(explanations), left, stopped});
  }
  line.clear();
  write_result(verb.format == "json" ? to_explanation_json(results) : to_explanation_table(results), verb.output);
  end_as_asked();
  const bool any = std::ranges::any_of(results, [](const ExplainResult& result) {
    return std::ranges::any_of(result.explanations,
                               [](const Explanation& e) { return e.prediction.status == Status::kOk; });
  });
  const bool stopped = std::ranges::any_of(results, [](const ExplainResult& result) { return result.stopped; });
  return any ? kDone : stopped ? stopped_too_early() : kNothingFits;
}

// slmsim max-model SCENARIO...: the largest number of layers that fits, by technique, and the memory that is full then.

struct MaxModelOptions : ScenarioOptions {
  std::string format = "table";
  Filter filter;
};

int max_model(const MaxModelOptions& options) {
  std::vector<LargestResult> results;
  bool any = false;
  for (auto& scenario : load_filtered(options, options.filter)) {
    auto models = largest_models(scenario, nullptr, available_cores());
    any = any || std::ranges::any_of(models, [](const LargestModel& m) { return m.layers > 0; });
    results.push_back({std::move(scenario), std::move(models)});
  }
  write_result(options.format == "json" ? to_largest_json(results) : to_largest_table(results), options.output);
  return any ? kDone : kNothingFits;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto* verb = app.add_subcommand("run", "predict every technique of a scenario on every group, and select");
  auto options = std::make_shared<RunOptions>();
  add_scenario_options(*verb, *options);
  add_format_option(*verb, options->format, format_names());
  verb->add_option("--trace", options->trace,
                   "write a Chrome/Perfetto trace of one iteration: of the first scenario's pick for its first model");
  add_filter_options(*verb, options->filter);
  verb->add_flag("--all", options->all, "with the table: every row, rate, reason and remark");
  verb->add_flag("--steps", options->steps, "with the table: the steps of Algorithm 1");
  verb->add_flag("--assumed", options->assumed, "with the table: every value that was assumed, and what measures it");
  verb->add_flag("--plan", options->plan, "also search as slmsim plan does, and print the best plan beside the pick");
  verb->add_flag(
      "--link-use", options->link_use,
      "with the table: average, 90th percentile and peak of every kind of link of nodes that describe their inside");
  add_interval_options(*verb, options->interval);
  verb->add_option("--timeline", options->timeline, "write the rates of those links over an iteration, as CSV");
  choose_from(verb->add_option("--engine", options->engine,
                               "engine that shares links; simgrid is slower and differs only where events coincide"),
              {"slmsim", "simgrid"})
      ->capture_default_str();
  verb->add_flag("--whole", options->whole,
                 "simulate every GPU and micro-batch, also identical ones: same result, but slower");
  verb->footer(R"(
Examples:
  slmsim run scenarios/gat-amst.yaml
  slmsim run scenarios/gat-amst.yaml --format json --output gat-amst.json
  slmsim run scenarios/gat-amst.yaml --set training.batch=16 --set nccl.NCCL_NSOCKS_PERTHREAD=4
  slmsim run scenarios/xe8545-1.yaml --link-use --timeline rates.csv
  slmsim run scenarios/gat-amst.yaml --intervals --level 0.9
  slmsim run scenarios/gat-amst.yaml --set 'groups=[[gat, amst/0]]' --technique Data
  slmsim run scenarios/gat-amst.yaml --set platform.vms.gat.type.tcp.net.ipv4.tcp_rmem=64MiB)");
  return {verb, [options] { return run(*options); }};
}

Command add_select(CLI::App& app) {
  auto* verb = app.add_subcommand("select", "show step by step how Algorithm 1 chooses, as printed and amended");
  auto options = std::make_shared<RunOptions>();
  add_scenario_options(*verb, *options);
  add_filter_options(*verb, options->filter);
  verb->footer("\nExample:\n  slmsim select scenarios/tacc-tacc.yaml --set selection.delta=0.05");
  return {verb, [options] { return select(*options); }};
}

Command add_explain(CLI::App& app) {
  auto* verb = app.add_subcommand("explain", "explain what limits each technique and which settings would help");
  auto options = std::make_shared<ExplainVerb>();
  add_scenario_options(*verb, *options);
  add_format_option(*verb, options->format, {"table", "json"});
  add_filter_options(*verb, options->filter);
  add_time_limit(*verb, options->time_limit);
  verb->footer(R"(
Without --model, --group and --technique, the table has of each model the three fastest, and the fastest on the most GPUs.
Each number is a separate prediction: without one limit, without two that hide each other, without one after the other
until at most a tenth of the time is left, or with one setting changed.

Examples:
  slmsim explain scenarios/gat-amst.yaml --set models=gpt2m --set groups=all
  slmsim explain scenarios/gat-amst.yaml --technique Data --format json --output limits.json)");
  return {verb, [options] { return explain_all(*options); }};
}

Command add_max_model(CLI::App& app) {
  auto* verb =
      app.add_subcommand("max-model", "find the largest number of layers that fits, by technique, and its limit");
  auto options = std::make_shared<MaxModelOptions>();
  add_scenario_options(*verb, *options);
  add_format_option(*verb, options->format, {"table", "json"});
  add_filter_options(*verb, options->filter);
  verb->footer(R"(
The model's hidden size, heads, sequence and vocabulary stay fixed; layers are added until GPU, host memory or drives are full.

Examples:
  slmsim max-model scenarios/xe8545-1.yaml
  slmsim max-model scenarios/xe8545-1.yaml --technique ZeRO-3 --format json
  slmsim max-model scenarios/gat-amst.yaml --set training.rematerialisation=yes)");
  return {verb, [options] { return max_model(*options); }};
}

}  // namespace slmsim
