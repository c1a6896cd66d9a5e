// slmsim report SCENARIO: a run as one page for a browser.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/command.h"
#include "sim/report/page/page.h"

namespace slmsim {
namespace {

struct ReportOptions : ScenarioOptions {
  ReportOptions() { output = "report.html"; }

  std::string scenario;
  IntervalRequest interval;
  double time_limit = 0;
};

// The command line as the user would write it.
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

// The whole run, or nothing where it is stopped before its predictions are done; `lacks` lists the other parts that are
// missing.
std::optional<RunResult> run_until(const std::function<bool()>& stop, Scenario scenario, const ReportOptions& options,
                                   const Intervals& intervals, std::vector<std::string>& lacks) {
  PredictOptions predicted;
  predicted.links = measures_links(scenario, false, false);
  predicted.threads = available_cores();
  predicted.stop = stop;
  std::optional<RunResult> result;
  try {
    result = run_scenario(std::move(scenario), predicted);
    intervals.add(options.scenario, *result, stop);
  } catch (const Stopped&) {
    if (result) lacks.emplace_back("intervals");
  }
  return result;
}

// With the sweep of round-trip times, unless it is stopped.
ModelReport swept_until(const std::function<bool()>& stop, const RunResult& result, std::size_t model) {
  ModelReport out = report_of(result, model);
  try {
    out.sweep = sweep_latency(result.scenario, out.model(), result.predictions, stop, available_cores());
  } catch (const Stopped&) {
    out.stopped = true;
  }
  return out;
}

std::string stopped_text(const std::vector<std::string>& lacks) {
  return lacks.empty() ? "" : fmt::format("Stopped before the end: without {}.", fmt::join(lacks, ", "));
}

int report(const ReportOptions& given) {
  ReportOptions options = given;
  options.scenarios = {options.scenario};
  for (const char* ending : {".json", ".csv", ".md", ".yaml", ".yml", ".pdf", ".png", ".svg"}) {
    if (options.output.ends_with(ending))
      throw InputError({},
                       fmt::format("--output {}: slmsim report writes a page, such as report.html", options.output));
  }
  refuse_twice_overridden(options.overrides);
  const Intervals intervals = intervals_of(options.interval, options);
  Scenario scenario = load_scenario(options.scenario, intervals.overrides());
  reserve_network(Network(scenario.platform).links().size());
  const auto stop = stop_at(options.time_limit);
  ProgressLine progress;
  progress.show("predicting");
  std::vector<std::string> lacks;
  const auto result = run_until(stop, std::move(scenario), options, intervals, lacks);
  if (!result) {
    end_as_asked();
    throw InputError({}, "stopped before everything was predicted; no page is written");
  }
  VerdictOptions verdict = verdict_options_of(ScenarioFile(options.scenario), intervals.overrides());
  verdict.stop = stop;
  verdict.threads = available_cores();
  const std::vector<Verdict> verdicts = verdicts_of(*result, verdict);
  std::vector<ModelReport> reports;
  std::vector<std::string> timelines;
  bool anything_runs = false;
  for (std::size_t i = 0; i < result->scenario.models.size(); ++i) {
    const std::string name = printable(result->scenario.models[i].name);
    progress.show(fmt::format("{}: varying the round-trip time", name));
    ModelReport one = swept_until(stop, *result, i);
    if (one.stopped) lacks.push_back(fmt::format("other round-trip times of {}", name));
    one.verdict = verdicts[i];
    anything_runs = anything_runs ||
                    std::ranges::any_of(one.predictions, [](const Prediction* p) { return p->status == Status::kOk; });
    timelines.push_back(timelines_of(one));
    reports.push_back(std::move(one));
  }
  progress.clear();
  write_result(to_html(reports, timelines, command_of(options), stopped_text(lacks)), options.output);
  if (options.output == ReportOptions().output) fmt::print(stderr, "slmsim: wrote {}\n", options.output);
  if (!lacks.empty()) fmt::print(stderr, "{}: {}\n", options.output, stopped_text(lacks));
  end_as_asked();
  return anything_runs ? kDone : kNothingFits;
}

}  // namespace

Command add_report(CLI::App& app) {
  auto* verb = app.add_subcommand("report", "write one page for a browser: verdict, comparison, memory, time, inputs");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("SCENARIO", options->scenario, "a scenario file, or a name as slmsim list scenarios prints it")
      ->required()
      ->transform(scenario_file);
  add_output_option(*verb, options->output, "the page")->capture_default_str();
  add_set_option(*verb, options->overrides);
  add_interval_options(*verb, options->interval);
  add_time_limit(*verb, options->time_limit);
  verb->footer(R"(
Examples:
  slmsim report scenarios/gat-amst.yaml -o report.html
  slmsim report scenarios/gat-amst.yaml --set models=gpt2m --set platform.links.wan.rtt=5ms
  slmsim report scenarios/gat-amst.yaml --fitted fitted.yaml)");
  return {verb, [options] { return report(*options); }};
}

}  // namespace slmsim
