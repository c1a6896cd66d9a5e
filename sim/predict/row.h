// One prediction as a flat row: the columns of `run --format csv` and of a sweep's results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/predict/predict.h"

namespace slmsim {

// A cell as written; empty where there is no value.
struct Cell {
  const char* column;
  std::string text;
  bool is_number = false;
};

// Minutes of the job, seconds of an iteration and its parts, TFLOP/s, bytes of the fullest GPU; numbers have nine digits.
std::vector<Cell> row_of(const std::string& scenario, const Prediction& prediction);
// The same columns without a prediction: only `status` and `reason` are filled.
std::vector<Cell> row_without_prediction(const std::string& status, const std::string& reason);

// The names of the columns, separated by commas.
std::string csv_header();
std::string csv_line(const std::vector<Cell>& row);
// A cell by RFC 4180: in quotes where it has a comma, a quote or a newline. Prefixed with an apostrophe where a spreadsheet
// would take it for a formula.
std::string csv_cell(std::string_view text);

// The cells as members of a JSON object, without its braces; an empty number is null.
std::string json_members(const std::vector<Cell>& row);
std::string json_string(std::string_view text);

}  // namespace slmsim
