// slmsim run SCENARIO...: predict every technique on every group, then select.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/crew/crew.h"
#include "sim/predict/result.h"
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

}  // namespace slmsim
