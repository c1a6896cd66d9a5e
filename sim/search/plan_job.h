// From a scenario to the best plans for each of its models: spaces, workers, searches, and the predictions of what they found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/explain/explain.h"
#include "sim/job/outcome.h"
#include "sim/search/plan_crew.h"

namespace slmsim {

// What Algorithm 1 takes of the scenario's own techniques and groups; no technique where nothing works.
struct Pick {
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  Seconds job;
};

// One that was found, in words.
struct NamedPlan {
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  std::string description;
  double cost = 0;
};

// Of one model.
struct PlannedModel {
  std::string model;
  SearchResult search;
  std::vector<Choice> choices;                  // of the list
  std::vector<std::string> descriptions;        // of the list
  std::vector<Overrides> overrides;             // of the list: for `slmsim run`
  std::vector<Prediction> predictions;          // of the list
  std::vector<std::optional<JobOutcome>> jobs;  // of the list; nothing where the scenario has no `job`
  std::vector<Limit> limits;                    // of the first
  // Where techniques may change the training: the best on GPUs of one VM, without that, and of several VMs, of what was
  // simulated.
  std::optional<NamedPlan> one_vm, several_vms;
  std::optional<Way> best;          // the first
  Pick printed_pick, amended_pick;  // where asked for: by the algorithm as printed, and amended
};

struct PlanReport {
  Scenario scenario;
  std::string file;      // where that is from, and with which overrides, for the command that predicts a plan again
  Overrides overrides;   // both are the caller's
  bool stopped = false;  // by the crew's stop: what was found until then
  PlanObjective objective = PlanObjective::kTime;
  std::vector<PlannedModel> models;
};

struct PlanJob {
  std::optional<PlanObjective> objective;  // absent: the scenario's
  const Technique* technique = nullptr;    // this one only
  std::size_t list = 5;
  double effort = 1;  // 1: what the largest clusters are given
  bool exhaustive = false;
  // Of what may be chosen, for a journal that other searches are told as a part (PlanCrewOptions): of each model is told what
  // was searched, and no plans. A part of n spends an n-th of the effort.
  std::optional<Shard> shard;
  bool compare = false;  // with Algorithm 1's picks
  bool explain = true;   // find what limits the best plan
  // Whether the time of model `index` of `count` is over, which ends its search with what it has found.
  std::function<bool(std::size_t index, std::size_t count)> deadline;
  std::function<bool()> over;  // whether the time of the whole job is: then only the best of each model is told
  std::function<void(const std::string& model, const SearchProgress&)> progress;
};

// A deadline ends the listing of choices too. Where options.stop or the deadline ends it, what was found until then, without what limits it. The journal stays: who has
// written the result removes it. Throws InputError where the objective lacks prices, or for a journal that is not ours.
PlanReport find_plans(const Scenario& scenario, const PlanJob& job, const PlanCrewOptions& options);

}  // namespace slmsim
