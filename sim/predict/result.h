// The answer for a scenario: predictions, whole jobs and picks. `slmsim run`, `report` and `serve` show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/predict/algorithm.h"
#include "sim/predict/assumption.h"
#include "sim/predict/interval.h"
#include "sim/predict/job/outcome.h"
#include "sim/predict/predict.h"

namespace slmsim {

struct RunResult {
  Scenario scenario;
  std::vector<Prediction> predictions;
  // By the scenario's algorithm and by the other one, per model. Empty where only one technique was requested.
  std::vector<Selection> selections, others;
  std::vector<std::string> plans;               // results of `plan`, per model; empty if not requested
  std::vector<std::optional<JobOutcome>> jobs;  // for each prediction; empty where the scenario has no `job`
  std::optional<Uncertainty> uncertainty;       // for predictions and selections, if requested
};

// Assumptions of the scenario and of the predicted plans, each once.
std::vector<Assumption> all_assumptions(const RunResult& result);

// Predictions, whole jobs where the scenario has a `job`, and the picks of both forms of Algorithm 1: the scenario's and the
// other one.
RunResult run_scenario(Scenario scenario, const PredictOptions& options);

// The picks of both forms, from the predictions as they are.
void select_again(RunResult& result);

// Whether link use is measured. It needs a simulation of every GPU, and a list of the links of more than kMostListedGpus is of
// little use, so there it must be requested (`asked`); a bill of egress always needs the links' bytes.
inline constexpr std::size_t kMostListedGpus = 64;
bool measures_links(const Scenario& scenario, bool wanted, bool asked);

// Options of `slmsim run --format json` for a scenario.
PredictOptions json_options(const Scenario& scenario);

}  // namespace slmsim
