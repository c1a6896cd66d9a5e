// The sections of a report on one model.
#pragma once

#include <optional>
#include <string>

#include "sim/report/report.h"
#include "sim/select/latency.h"

namespace slmsim {

// One model of a run.
struct ModelReport {
  const RunResult& result;
  std::size_t index = 0;                       // into Scenario::models
  std::vector<const Prediction*> predictions;  // of this model, in the run's order
  std::optional<LatencySweep> sweep;
  bool stopped = false;  // before the sweep

  const Transformer& model() const { return result.scenario.models[index]; }
  const Platform& platform() const { return result.scenario.platform; }
  const Selection& selection() const { return result.selections[index]; }
  // The pick's, or nullptr where nothing works.
  const Prediction* pick() const;
};

// Of model `index`, without a sweep.
ModelReport report_of(const RunResult& result, std::size_t index);

// Plain text, for whoever reads nothing else: what to do, how long it takes, and what the alternatives cost.
std::string verdict_text(const ModelReport& report);
// What comes as near to the pick as selection.delta, or what is next; empty where nothing runs.
std::string near_text(const ModelReport& report);
// What is trained, in which precision, in steps of how many tokens, and how many.
std::string workload_text(const ModelReport& report);
// What the pick's job lies between, and the probabilities that it fits and is right; empty without intervals.
std::string sureness_text(const ModelReport& report);
// At which round-trip time the pick changes.
std::string change_text(const ModelReport& report);

// HTML.
std::string comparison_section(const ModelReport& report);
std::string memory_section(const ModelReport& report);
std::string breakdown_section(const ModelReport& report);
std::string latency_section(const ModelReport& report);
std::string job_section(const ModelReport& report);  // empty where the scenario has no `job`
std::string inputs_section(const Scenario& scenario);

}  // namespace slmsim
