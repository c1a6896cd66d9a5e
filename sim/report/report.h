// Prints a result; computes nothing.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/interval.h"
#include "sim/job/outcome.h"
#include "sim/predict/assumption.h"
#include "sim/predict/predict.h"
#include "sim/select/algorithm.h"

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

enum class Format { kTable, kJson, kCsv };
const std::vector<std::string>& format_names();

// For people: per model a table of techniques and groups, the pick and why.
std::string to_table(const RunResult& result);
// One JSON object of schema "slmsim/run/1".
std::string to_json(const RunResult& result);
// A header and one line per prediction, see csv.h.
std::string to_csv(const std::vector<RunResult>& results);

// All results in one format: tables one after the other, JSON as one object or a list of several.
std::string to_text(const std::vector<RunResult>& results, Format format);

// The steps of the selections only.
std::string to_selection_table(const RunResult& result);

}  // namespace slmsim
