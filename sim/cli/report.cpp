// slmsim report SCENARIO: a run as one page for a browser.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cli/command.h"
#include "sim/cli/intervals.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/scenarios.h"
#include "sim/page/page.h"
#include "sim/page/timeline.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

struct ReportOptions : ScenarioOptions {
  ReportOptions() { output = "report.html"; }

  std::string scenario;
  IntervalRequest interval;
};

// As its user would write it.
std::string command_of(const ReportOptions& options) {
  std::string out = fmt::format("slmsim {}: slmsim report {}", SLMSIM_VERSION, options.scenario);
  const IntervalRequest& interval = options.interval;
  if (!interval.fitted.empty()) out += fmt::format(" --fitted {}", interval.fitted);
  if (interval.intervals) out += " --intervals";
  if (interval.level != IntervalRequest{}.level) out += fmt::format(" --level {:g}", interval.level);
  if (interval.seed != IntervalRequest{}.seed) out += fmt::format(" --seed {}", interval.seed);
  for (const auto& text : options.overrides) out += fmt::format(" --set '{}'", text);
  return out;
}

// Of an iteration of the pick, and of the best technique on most GPUs if the pick uses fewer.
std::string timelines_of(const ModelReport& report) {
  std::vector<const Prediction*> shown;
  if (const Prediction* pick = report.pick()) shown.push_back(pick);
  const Prediction* largest = nullptr;
  for (const Prediction* p : report.predictions) {
    if (p->status != Status::kOk) continue;
    if (!largest || p->gpus > largest->gpus || (p->gpus == largest->gpus && p->job < largest->job)) largest = p;
  }
  if (largest && !shown.empty() && largest->gpus > shown.front()->gpus) shown.push_back(largest);
  std::string out;
  for (const Prediction* p : shown) {
    const TaskGraph graph = iteration_graph(report.result.scenario, report.model(), *p->plan);
    out += fmt::format("<h3>{}</h3>\n", place_of(*p)) +
           timeline_bars(graph, simulate(graph, p->connections), report.result.scenario.platform);
  }
  return out;
}

int report(const ReportOptions& given) {
  RunResult result;
  ReportOptions options = given;
  options.scenarios = {options.scenario};
  refuse_twice_overridden(options.overrides);
  const Intervals intervals = intervals_of(options.interval, options);
  result.scenario = load_scenario(options.scenario, intervals.overrides());
  reserve_network(Network(result.scenario.platform).links().size());
  ProgressLine progress;
  progress.show("predicting");
  result.predictions =
      predict(result.scenario, {.links = result.scenario.job && result.scenario.job->egress_per_gigabyte});
  result.jobs = outcomes_of(result.scenario, result.predictions);
  result.selections = select_techniques(result.scenario, result.predictions, result.scenario.selection.algorithm);
  intervals.add(options.scenario, result);
  std::vector<ModelReport> reports;
  std::vector<std::string> timelines;
  bool anything_runs = false;
  for (std::size_t i = 0; i < result.scenario.models.size(); ++i) {
    const Transformer& model = result.scenario.models[i];
    progress.show(fmt::format("{}: varying the round-trip time", printable(model.name)));
    ModelReport one{.result = result,
                    .index = i,
                    .predictions = {},
                    .sweep = sweep_latency(result.scenario, model, result.predictions)};
    for (const auto& p : result.predictions) {
      if (p.model == model.name) one.predictions.push_back(&p);
      anything_runs = anything_runs || p.status == Status::kOk;
    }
    timelines.push_back(timelines_of(one));
    reports.push_back(std::move(one));
  }
  progress.clear();
  write_result(to_html(reports, timelines, command_of(options)), options.output);
  return anything_runs ? kDone : kNothingFits;
}

}  // namespace

Command add_report(CLI::App& app) {
  auto* verb = app.add_subcommand("report", "write one page for a browser: verdict, comparison, memory, time, inputs");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("SCENARIO", options->scenario, "a scenario file, or a name as slmsim list scenarios prints it")
      ->required()
      ->transform(scenario_file);
  verb->add_option("--output,-o", options->output, "the page")->capture_default_str();
  add_set_option(*verb, options->overrides);
  add_interval_options(*verb, options->interval);
  verb->footer(R"(
Examples:
  slmsim report scenarios/gat-amst.yaml -o report.html
  slmsim report scenarios/gat-amst.yaml --set models=gpt2m --set platform.links.wan.rtt=5ms
  slmsim report scenarios/gat-amst.yaml --fitted fitted.yaml)");
  return {verb, [options] { return report(*options); }};
}

}  // namespace slmsim
