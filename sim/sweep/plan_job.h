// From a scenario to the best plans for each of its models: spaces, workers, searches, and the predictions of what they found.
#pragma once

#include "sim/report/plan_table.h"
#include "sim/sweep/plan_crew.h"

namespace slmsim {

struct PlanJob {
  std::optional<PlanObjective> objective;  // absent: the scenario's
  std::optional<Technique> technique;      // this one only
  std::size_t list = 5;
  double effort = 1;  // 1: what the largest clusters are given
  bool exhaustive = false;
  bool compare = false;            // with Algorithm 1's picks
  bool explain = true;             // find what limits the best plan
  std::function<bool()> deadline;  // ends the search with what it has found
  std::function<void(const std::string& model, const SearchProgress&)> progress;
};

// Nothing where options.stop ended it. Throws InputError where the objective lacks prices, or for a journal that is not ours.
std::optional<PlanReport> find_plans(const Scenario& scenario, const PlanJob& job, const PlanCrewOptions& options);

}  // namespace slmsim
