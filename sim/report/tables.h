// The results of commands other than `slmsim run`, and of its options, in each format. They are printed, and nothing is computed.
#pragma once

#include <string>
#include <vector>

#include "sim/explain/explain.h"
#include "sim/fit/draws.h"
#include "sim/fit/measured_step.h"
#include "sim/fit/next.h"
#include "sim/predict/max_model.h"
#include "sim/report/report.h"
#include "sim/scenario/scenario.h"
#include "sim/search/plan_job.h"

namespace slmsim {

// The limits of techniques.
struct ExplainResult {
  Scenario scenario;
  std::vector<Explanation> explanations;
  bool stopped = false;  // before all were explained
};

// For people: per technique the limits, the settings that help and the first change to make.
std::string to_explanation_table(const std::vector<ExplainResult>& results);
// One JSON object of schema "slmsim/explain/1", or a list of several.
std::string to_explanation_json(const std::vector<ExplainResult>& results);

// The result of `slmsim plan`. For people: the list with the cost of each, why the first one wins, its limits and how to predict it again.
std::string to_plan_table(const PlanReport& report);
// One JSON object of schema "slmsim/plan/1", or a list of several.
std::string to_plan_json(const std::vector<PlanReport>& reports);

// A row per scenario and model: Algorithm 1's picks beside the best plan.
std::string to_plan_markdown(const std::vector<PlanReport>& reports);

// "Data on gat: 34 min": the first of the list, in short.
std::string best_plan(const PlannedModel& planned);

// The largest models that fit, as a table and as JSON of the schema "slmsim/max-model/1". Used by `slmsim max-model`.
struct LargestResult {
  Scenario scenario;
  std::vector<LargestModel> models;
};

std::string to_largest_table(const std::vector<LargestResult>& results);
// One object, or a list of several.
std::string to_largest_json(const std::vector<LargestResult>& results);

// The result of slmsim fit, as a table and as JSON.
std::string to_table(const FitReport& report);
// One JSON object of schema "slmsim/fit/1": each unknown with its median, 80 % interval and remaining share of the prior's
// width, each run with its measured and fitted figures. Base units; for a choice the shares of its words.
std::string to_json(const FitReport& report);

// The most informative pilot runs, in each format.
struct NextReport {
  Scenario scenario;
  std::vector<Candidate> candidates;
  std::string fitted_to;  // empty: not fitted
  std::vector<NextPick> picks;
  std::vector<std::string> remarks = {};  // on the fit
};

std::string to_table(const NextReport& report);
std::string to_json(const NextReport& report);

// Measured training steps beside their predictions, as Markdown and as CSV.

// `skipped`: listed below the table with the reason.
std::string to_markdown(const std::vector<StepComparison>& steps, const std::vector<SkippedStep>& skipped = {});
std::string to_csv(const std::vector<StepComparison>& steps);

// Use of nodes' interconnects: a table, and their rates over an iteration as CSV for plots. Used by `slmsim run --link-use` and
// `--timeline`.

// GB/s of both directions together, per node: average, 90th percentile by time, peak, and the data sheet's figure.
std::string to_link_use_table(const std::vector<RunResult>& results);

// scenario,model,technique,group,node,interconnect,time_s,rate_Bps: a rate applies from its time until the next one.
std::string to_timeline_csv(const std::vector<RunResult>& results);

// The list of techniques: `slmsim list techniques`.
std::string to_technique_table();
// A list of objects: `name`, `summary`, `options` (their keys), `usual` (predicted where a scenario names none), and `looks`
// (fill, line, marker, dash, hatch, as in matplotlib).
std::string to_technique_json();

}  // namespace slmsim
