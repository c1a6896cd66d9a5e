// Whole jobs with their failures, checkpoints and costs, in the text and columns of each format.
#pragma once

#include <optional>
#include <string>

#include "sim/predict/result.h"

namespace slmsim {

// "9.84 h", "23.4 d", "no end".
std::string job_duration(double seconds);

// Table of one model's predictions: length, probability of ending before the lease, cost, and where the time goes.
std::string job_table(const RunResult& result, const std::string& model);

// "median 9.84 h, 80 % between 9.1 h and 12 h; 99.2 % by the lease; 16.5 USD, 6.49 kWh".
std::string job_line(const JobOutcome& job);

// Appended to a row of CSV, and its header.
std::string job_header();
std::string job_cells(const std::optional<JobOutcome>& job);

}  // namespace slmsim
