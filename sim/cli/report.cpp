// slmsim report SCENARIO: a run as one page for a browser.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cli/command.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/scenarios.h"
#include "sim/page/page.h"
#include "sim/page/timeline.h"
#include "sim/run/run.h"

namespace slmsim {
namespace {

struct ReportOptions {
  std::string scenario, output = "report.html";
  Overrides overrides;
};

int report(const ReportOptions& options) {
  refuse_twice_overridden(options.overrides);
  Scenario scenario = load_scenario(options.scenario, options.overrides);
  reserve_network(Network(scenario.platform).links().size());
  ProgressLine progress;
  progress.show("predicting");
  PredictOptions predicted;
  predicted.links = measures_links(scenario, false, false);
  const RunResult result = run_scenario(std::move(scenario), predicted);
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
  std::string made_by = fmt::format("slmsim {}: slmsim report {}", SLMSIM_VERSION, options.scenario);
  for (const auto& text : options.overrides) made_by += fmt::format(" --set '{}'", text);
  progress.clear();
  write_result(to_html(reports, timelines, made_by), options.output);
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
  verb->footer(R"(
Examples:
  slmsim report scenarios/gat-amst.yaml -o report.html
  slmsim report scenarios/gat-amst.yaml --set models=gpt2m --set platform.links.wan.rtt=5ms)");
  return {verb, [options] { return report(*options); }};
}

}  // namespace slmsim
