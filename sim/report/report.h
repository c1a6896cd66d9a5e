// Prints a result; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/explain/explain.h"
#include "sim/fit/draws.h"
#include "sim/fit/measured_step.h"
#include "sim/fit/next.h"
#include "sim/platform/platform.h"
#include "sim/predict/max_model.h"
#include "sim/predict/result.h"
#include "sim/scenario/scenario.h"
#include "sim/search/plan_job.h"
#include "sim/search/verdict.h"

namespace slmsim {

enum class Format { kTable, kJson, kCsv };
const std::vector<std::string>& format_names();

struct TableOptions {
  std::vector<Verdict> verdicts =
      {};                     // one per model; empty: verdicts_of(result), which has no draws and no suggestions
  bool steps = false;         // Algorithm 1's steps
  bool all = false;           // every row, rate, reason and remark
  bool assumed = false;       // every assumption, one per line
  bool colour = false;        // escape sequences of a terminal
  std::string scenario = {};  // as the user names it, for the commands to run next; empty: these are not printed
};

// For people, at most 100 columns: the best choice and how sure it is, what would be faster, then per model the fastest
// techniques and groups. Rows with equal figures are one.
std::string to_table(const RunResult& result, const TableOptions& given = {});
// One JSON object of schema "slmsim/run/1".
std::string to_json(const RunResult& result);
// A header and one line per prediction, see sim/predict/row.h.
std::string to_csv(const std::vector<RunResult>& results);

// All results in one format: tables one after the other, JSON as one object or a list of several.
std::string to_text(const std::vector<RunResult>& results, Format format);

// The steps of the selections only.
std::string to_selection_table(const RunResult& result);

// The results of commands other than `slmsim run`, and of its options, in each format. They are printed, and nothing is computed.

// The limits of techniques.
struct ExplainResult {
  Scenario scenario;
  std::vector<Explanation> explanations;
  std::size_t left = 0;  // predictions that are not explained
  bool stopped = false;  // before all that were asked for were
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
  std::vector<std::string> remarks = {};                  // on the fit
  std::vector<std::optional<std::size_t>> selected = {};  // the picks of `run`, by model
};

std::string to_table(const NextReport& report);
std::string to_json(const NextReport& report);

// Measured training steps beside their predictions, as Markdown and as CSV.

// `skipped`: listed below the table with the reason. `worst`: number of rows, those with the largest errors of time, above the
// summary of all steps; 0: all rows, in their order.
std::string to_markdown(const std::vector<StepComparison>& steps, const std::vector<SkippedStep>& skipped = {},
                        std::size_t worst = 0);
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

// One iteration as a Chrome trace (JSON of the "Trace Event Format"), for chrome://tracing and
// ui.perfetto.dev.

// One iteration. A `timeline` with recorded flows shows the links as well.
struct TracedIteration {
  const TaskGraph& graph;
  const Timeline& timeline;
  const Platform& platform;
  std::string title;         // "gpt2m: Data on gat"
  std::string assumed = {};  // unmeasured inputs, in one line
};

// One track per GPU stream, one per connection, one for each kind of work between a GPU's process, its host and its drives, and
// one counter per link; times in microseconds, to the nanosecond. An event's category is its TaskClass. Transfers of one
// connection run one after the other, so a track's events do not overlap; a transfer ends here when its last byte leaves.
// Arrows lead from a computation to the transfer of its result, and from a transfer to the computation that waited for it;
// where that also waited for another GPU's result, from the later one. A link whose rate changes often is shown by averages
// over short, equal times. The track "iteration" is as long as the iteration.
std::string to_trace(const TracedIteration& traced);

// The pick for the first model, or the first that runs where there is none; nothing where nothing runs.
const Prediction* to_be_traced(const RunResult& result);

// As a Chrome/Perfetto trace; `prediction` must run and be one of the result's.
std::string trace_of(const RunResult& result, const Prediction& prediction);

}  // namespace slmsim
