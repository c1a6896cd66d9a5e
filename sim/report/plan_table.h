// Prints what `slmsim plan` found; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/search/search.h"
#include "sim/select/explain.h"

namespace slmsim {

// Of one model.
struct PlannedModel {
  std::string model;
  SearchResult search;
  std::vector<Choice> choices;            // of the list
  std::vector<std::string> descriptions;  // of the list
  std::vector<Overrides> overrides;       // of the list: for `slmsim run`
  std::vector<Prediction> predictions;    // of the list
  std::vector<Limit> limits;              // of the first
  std::optional<Way> best;                // the first
  // What Algorithm 1 picks of the scenario's own techniques and groups, with its time: as printed and amended. Where asked for.
  std::string printed_pick, amended_pick;
};

struct PlanReport {
  Scenario scenario;
  PlanObjective objective = PlanObjective::kTime;
  std::vector<PlannedModel> models;
};

// For people: the list with what each costs, why the first one wins, what limits it and how to predict it again.
std::string to_plan_table(const PlanReport& report);
// One JSON object of schema "slmsim/plan/1", or a list of several.
std::string to_plan_json(const std::vector<PlanReport>& reports);

// A row per scenario and model: Algorithm 1's picks beside the best plan.
std::string to_plan_markdown(const std::vector<PlanReport>& reports);

// "Data on gat: 34 min": the first of the list, in a few words.
std::string best_plan(const PlannedModel& planned);

}  // namespace slmsim
