// The sections of a report on one model.
#pragma once

#include <optional>
#include <string>

#include "sim/explain/latency.h"
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

// Report of model `index`, without a sweep and a verdict.
ModelReport report_of(const RunResult& result, std::size_t index);

// Those that run, the fastest first and the pick first among equals; then the others.
std::vector<const Prediction*> fastest_first(const ModelReport& report);
// The prediction that lacks the least memory, or nullptr.
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
