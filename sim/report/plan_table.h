// Prints the result of `slmsim plan`; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/search/plan_job.h"

namespace slmsim {

// For people: the list with the cost of each, why the first one wins, its limits and how to predict it again.
std::string to_plan_table(const PlanReport& report);
// One JSON object of schema "slmsim/plan/1", or a list of several.
std::string to_plan_json(const std::vector<PlanReport>& reports);

// A row per scenario and model: Algorithm 1's picks beside the best plan.
std::string to_plan_markdown(const std::vector<PlanReport>& reports);

// "Data on gat: 34 min": the first of the list, in short.
std::string best_plan(const PlannedModel& planned);

}  // namespace slmsim
