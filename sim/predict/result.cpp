#include "sim/predict/result.h"

#include <algorithm>

#include "sim/scenario/group.h"

namespace slmsim {

RunResult run_scenario(Scenario scenario, const PredictOptions& options) {
  RunResult result;
  result.scenario = std::move(scenario);
  result.predictions = predict(result.scenario, options);
  result.jobs = outcomes_of(result.scenario, result.predictions);
  select_again(result);
  return result;
}

void select_again(RunResult& result) {
  const Algorithm asked = result.scenario.selection.algorithm;
  const Algorithm other = asked == Algorithm::kPaper ? Algorithm::kAmended : Algorithm::kPaper;
  result.selections = select_techniques(result.scenario, result.predictions, asked);
  result.others = select_techniques(result.scenario, result.predictions, other);
}

std::vector<Assumption> all_assumptions(const RunResult& result) {
  std::vector<const Prediction*> predictions;
  for (const auto& p : result.predictions) predictions.push_back(&p);
  return assumptions_of(result.scenario, predictions);
}

bool measures_links(const Scenario& scenario, bool wanted, bool asked) {
  if (scenario.job && scenario.job->egress_per_gigabyte) return true;
  const bool many = std::any_of(scenario.groups.begin(), scenario.groups.end(),
                                [](const Group& group) { return group.devices.size() > kMostListedGpus; });
  return asked || (wanted && !many);
}

PredictOptions json_options(const Scenario& scenario) {
  PredictOptions options;
  options.time_misfits = true;
  options.links = measures_links(scenario, true, false);
  return options;
}

}  // namespace slmsim
