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
#include "sim/run/run.h"

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

int report(const ReportOptions& given) {
  ReportOptions options = given;
  options.scenarios = {options.scenario};
  refuse_twice_overridden(options.overrides);
  const Intervals intervals = intervals_of(options.interval, options);
  Scenario scenario = load_scenario(options.scenario, intervals.overrides());
  reserve_network(Network(scenario.platform).links().size());
  ProgressLine progress;
  progress.show("predicting");
  PredictOptions predicted;
  predicted.links = measures_links(scenario, false, false);
  RunResult result = run_scenario(std::move(scenario), predicted);
  intervals.add(options.scenario, result);
  std::vector<ModelReport> reports;
  std::vector<std::string> timelines;
  bool anything_runs = false;
  for (std::size_t i = 0; i < result.scenario.models.size(); ++i) {
    const Transformer& model = result.scenario.models[i];
    progress.show(fmt::format("{}: varying the round-trip time", printable(model.name)));
    ModelReport one = report_of(result, i);
    one.sweep = sweep_latency(result.scenario, model, result.predictions);
    anything_runs = anything_runs || std::any_of(one.predictions.begin(), one.predictions.end(),
                                                 [](const Prediction* p) { return p->status == Status::kOk; });
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
