// The sections of a report on one model.
#pragma once

#include <optional>
#include <string>

#include "sim/report/report.h"
#include "sim/explain/latency.h"

namespace slmsim {

// One model of a run.
struct ModelReport {
  const RunResult& result;
  std::size_t index = 0;                       // index in Scenario::models
  std::vector<const Prediction*> predictions;  // of this model, in the run's order
  std::optional<LatencySweep> sweep;
  bool stopped = false;  // before the sweep

  const Transformer& model() const { return result.scenario.models[index]; }
  const Platform& platform() const { return result.scenario.platform; }
  const Selection& selection() const { return result.selections[index]; }
  // The pick's prediction, or nullptr where nothing works.
  const Prediction* pick() const;
};

// Report of model `index`, without a sweep.
ModelReport report_of(const RunResult& result, std::size_t index);

// Plain text, understandable alone: the recommendation, its time, and the cost of the alternatives.
std::string verdict_text(const ModelReport& report);
// The plans within selection.delta of the pick, or the next one; empty where nothing runs.
std::string near_text(const ModelReport& report);
// The training: model, precision, tokens per step, and number of steps.
std::string workload_text(const ModelReport& report);
// The interval of the pick's job, and the probabilities that it fits and is right; empty without intervals.
std::string sureness_text(const ModelReport& report);
// The round-trip times at which the pick changes.
std::string change_text(const ModelReport& report);

// HTML.
std::string comparison_section(const ModelReport& report);
std::string memory_section(const ModelReport& report);
std::string breakdown_section(const ModelReport& report);
std::string latency_section(const ModelReport& report);
std::string job_section(const ModelReport& report);  // empty where the scenario has no `job`
std::string inputs_section(const Scenario& scenario);

}  // namespace slmsim
