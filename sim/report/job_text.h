// Whole jobs with their failures, checkpoints and costs, in the words and columns of each format.
#pragma once

#include <string>
#include <vector>

#include "sim/report/json_values.h"
#include "sim/report/report.h"

namespace slmsim {

// "9.84 h", "23.4 d", "no end".
std::string job_duration(double seconds);

// Of the predictions of one model: how long, how likely before the lease ends, what it costs, where the time goes.
std::string job_table(const RunResult& result, const std::string& model);

// "median 9.84 h, 80 % between 9.1 h and 12 h; 99.2 % by the lease; 16.5 USD, 6.49 kWh".
std::string job_line(const JobOutcome& job);

Json job_json(const JobOutcome& job);
// What all of a scenario's jobs have in common: the lease, and the links at each time of the day from which they are others.
Json job_rules_json(const Scenario& scenario);

// Behind a row of CSV, and its header.
std::string job_header();
std::string job_cells(const std::optional<JobOutcome>& job);

}  // namespace slmsim
