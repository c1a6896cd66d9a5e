// Prints a result; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/result.h"
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

}  // namespace slmsim
