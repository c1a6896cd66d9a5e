// From a scenario to the best plans for each of its models: spaces, workers, searches, and predictions of the results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/work.h"
#include "sim/explain/explain.h"
#include "sim/predict/job/outcome.h"
#include "sim/search/plan_crew.h"

namespace slmsim {

// Algorithm 1's pick among the scenario's own techniques and groups; no technique where nothing works.
struct Pick {
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  Seconds job;
};

// A plan with its description.
struct NamedPlan {
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  std::string description;
  double cost = 0;
  std::optional<std::size_t> listed = {};  // its place in the list, from 0
};

// The plans of one model.
struct PlannedModel {
  std::string model;
  SearchResult search;
  // Each has one entry per plan of the list. `alike`: other techniques that take the same time on the plan's one GPU.
  std::vector<Choice> choices;
  std::vector<std::string> descriptions;
  std::vector<std::vector<const Technique*>> alike;
  std::vector<Overrides> overrides;  // for `slmsim run`
  std::vector<Prediction> predictions;
  std::vector<std::optional<JobOutcome>> jobs;  // nothing where the scenario has no `job`
  std::vector<Limit> limits;                    // those that bound the list's first plan
  // Where techniques may change the training, of the simulated plans: the best on GPUs of one VM without such a change, the
  // best of several VMs, and the best of all without such a change.
  std::optional<NamedPlan> one_vm, several_vms, unchanged;
  std::optional<RunSetup> best;     // the first
  Pick printed_pick, amended_pick;  // if requested: by the algorithm as printed, and amended
};

struct PlanReport {
  Scenario scenario;
  std::string file;      // source of the scenario and its overrides, for the command that repeats a prediction
  Overrides overrides;   // both from the caller
  bool stopped = false;  // by the crew's stop; holds what was found by then
  PlanObjective objective = PlanObjective::kTime;
  std::vector<PlannedModel> models;
};

inline constexpr Range<double> kListRange{1, 100}, kEffortRange{1e-6, 1e6};

struct PlanJob {
  std::optional<PlanObjective> objective;  // absent: the scenario's
  const Technique* technique = nullptr;    // this one only
  std::size_t list = 5;
  double effort = 1;  // 1: the effort for the largest clusters
  bool exhaustive = false;
  // Part of the choices, for a journal that other searches read as a part (PlanCrewOptions): the result has each model's
  // search, without plans. A part of n spends an n-th of the effort.
  std::optional<Shard> shard;
  bool compare = false;  // with Algorithm 1's picks
  bool explain = true;   // find the limits of the best plan
  // Each model has a share of the time for its search, which then ends with the plans found so far, early enough to predict
  // them once more. When all time is over, only each model's best plan is reported. The result depends on the machine.
  Deadline deadline;
  std::function<void(const std::string& model, const SearchProgress&)> progress;
};

// A deadline also ends the listing of choices. Where options.stop or the deadline ends the search, the result has the plans
// found by then, without limits. The journal stays: the caller removes it once the result is written. Throws InputError where
// the objective lacks prices or the scenario the technique, where the journal belongs to another search, or where the list or
// the effort is out of range.
PlanReport find_plans(const Scenario& scenario, const PlanJob& job, const PlanCrewOptions& options);

// Throws InputError where the scenario lacks the technique, if not nullptr.
void check_technique(const Scenario& scenario, const Technique* technique);

}  // namespace slmsim
