// Phrases that the tables of both studies share.
#pragma once

#include <string>
#include <vector>

#include "sim/fit/measured_step.h"
#include "sim/predict/predict.h"

namespace slmsim {

// "+3.1 %"; for a measured 0 the difference itself, "+0.2 (measured is 0: difference)"; empty where it does not run.
std::string error_text(const Comparison& cell, int digits);
// "5 cells, mean absolute error 3.0 %, worst 4.1 %", and the number of measured zeros, if any.
std::string summary_text(const ErrorSummary& summary);
// The list of fitted values, as Markdown.
std::string fitted_table(const std::vector<Parameter>& fitted);

}  // namespace slmsim
