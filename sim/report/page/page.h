// A run as one self-contained page for a browser: four tiles and one comparison of the choices, then the evidence,
// folded. The page loads nothing: style and charts are inside it, and its content security policy forbids the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/explain/latency.h"
#include "sim/platform/platform.h"
#include "sim/report/report.h"
#include "sim/search/verdict.h"

namespace slmsim {

// One model of a run.
struct ModelReport {
  const RunResult& result;
  std::size_t index = 0;                       // index in Scenario::models
  std::vector<const Prediction*> predictions;  // of this model, in the run's order
  std::optional<LatencySweep> sweep;
  bool stopped = false;            // before the sweep
  std::optional<Verdict> verdict;  // of this model

  const Transformer& model() const { return result.scenario.models[index]; }
  const Platform& platform() const { return result.scenario.platform; }
  const Selection& selection() const { return result.selections[index]; }
  // The pick's prediction, or nullptr where nothing works.
  const Prediction* pick() const;
};

// The style sheet for the sections, and the SVG patterns that it names, which the page must include.
std::string page_style();
std::string page_hatches();

// HTML that is also well-formed XML. `timelines`: HTML per model, of the pick's iteration. `made_by`: program and command.
// `stopped`: a sentence on missing parts of a stopped run; empty where it is complete.
std::string to_html(const std::vector<ModelReport>& reports, const std::vector<std::string>& timelines,
                    const std::string& made_by, const std::string& stopped = "");

// One iteration as bars over time: a row per GPU and per connection between VMs.

// HTML. Parts too close together to be seen are drawn as one; with many rows only the first are shown.
std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform);

// Timelines of an iteration of the pick, and of the best technique on most GPUs if the pick uses fewer; simulates both again.
std::string timelines_of(const ModelReport& report);

// The sections of a report on one model.

// Report of model `index`, without a sweep and a verdict.
ModelReport report_of(const RunResult& result, std::size_t index);

// Those that run, the fastest first and the pick first among equals; then the others.
std::vector<const Prediction*> fastest_first(const ModelReport& report);
// The fullest host memory or drive of those that do not hold it, or nullptr.
const Store* lacking_store(const Prediction& p);
// The prediction that lacks the least memory, of GPUs, hosts or drives, or nullptr.
const Prediction* nearest_misfit(const ModelReport& report);

// The recommendation and its time, understandable alone.
std::string verdict_text(const ModelReport& report);
// The effect of more or fewer GPUs, and what is faster where the scenario's rules prefer the pick.
std::string alternative_text(const ModelReport& report);
// The plans within selection.delta of the pick, or the next one; empty where nothing runs.
std::string near_text(const ModelReport& report);
// The training: model, precision, tokens per step, and number of steps.
std::string workload_text(const ModelReport& report);
// The interval of the pick's job, and the probabilities that it fits and is right; empty without intervals.
std::string sureness_text(const ModelReport& report);
// The round-trip times at which the pick changes.
std::string change_text(const ModelReport& report);

// HTML.

// Time, memory, certainty and cost of the pick. `missing`: the note where there is no interval.
std::string tiles_section(const ModelReport& report, const std::string& missing);
// Near ties and more GPUs; and where the report has a verdict: what would be faster or fit, what the time rests on most, and
// the nearest validated cluster.
std::string facts_section(const ModelReport& report);
// The fastest choices as bars, the others and those that do not run folded.
std::string comparison_section(const ModelReport& report);
// All figures of each prediction, and how the pick is made.
std::string figures_section(const ModelReport& report);
std::string memory_section(const ModelReport& report);
std::string breakdown_section(const ModelReport& report);
std::string latency_section(const ModelReport& report);
std::string job_section(const ModelReport& report);  // empty where the scenario has no `job`
std::string inputs_section(const Scenario& scenario);

}  // namespace slmsim
