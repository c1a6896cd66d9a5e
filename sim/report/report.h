// Prints a result; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/result.h"

namespace slmsim {

enum class Format { kTable, kJson, kCsv };
const std::vector<std::string>& format_names();

// For people: per model a table of techniques and groups, the pick and why.
std::string to_table(const RunResult& result);
// One JSON object of schema "slmsim/run/1".
std::string to_json(const RunResult& result);
// A header and one line per prediction, see sim/predict/row.h.
std::string to_csv(const std::vector<RunResult>& results);

// All results in one format: tables one after the other, JSON as one object or a list of several.
std::string to_text(const std::vector<RunResult>& results, Format format);

// The steps of the selections only.
std::string to_selection_table(const RunResult& result);

}  // namespace slmsim
