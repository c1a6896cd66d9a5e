// Common functions of several techniques, and how their options may vary.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/technique/common/lower.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/plan.h"
#include "sim/technique/export/export.h"

namespace slmsim {

// Variations of a technique's options for `slmsim plan`: the useful values of each option on a group of GPUs. A value
// is a number of the variation's own, in the order of trial; 0 keeps the option's default.

// The facts that determine useful values.
struct GroupFacts {
  int gpus = 0;
  int vms = 0;
  int least_of_vm = 0;     // greatest common divisor of the VMs' numbers of GPUs
  bool mixed = false;      // GPUs of different models
  bool equal_vms = false;  // several VMs with equally many GPUs, at least two
  bool reordered = false;  // the same GPUs are a group in another order too, which precedes this one

  auto operator<=>(const GroupFacts&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
};

struct VariationRequest {
  const Scenario& scenario;
  const Transformer& model;
  const TechniqueOptions& base;    // as in the scenario
  const TechniqueOptions& so_far;  // with the variations before this one
  const GroupFacts& group;
};

struct Variation {
  std::vector<int> (*values)(const VariationRequest&);
  void (*apply)(TechniqueOptions& options, int value, const Scenario& scenario, int gpus);
  // "GPipe": description of a plan with this value; empty: none.
  std::string (*words)(const TechniqueOptions& options, int value);
  // Index of an earlier variation of the same technique that is changed together with this one: for example, a degree
  // with the number of stages. -1: none.
  int with = -1;
};

// Degrees and numbers of stages to try on a platform: all of a small one, else powers of two.
std::vector<int> counts_to_try(const Platform& platform);
// 0 alone, or 0 and 1.
std::vector<int> yes_or_no(bool both);

// Calls Technique::plan with the number of micro-batches set.
PlanResult make_plan(const PlanRequest& request);

// A plan without stages: the technique, its micro-batches and recomputation.
Plan begin_plan(const PlanRequest& request);

// Why this many tensor-parallel GPUs cannot divide a layer; why the batch does not divide into the micro-batches of this many
// replicas. Empty where they do.
std::string uneven_tensor(const Transformer& model, int tensor);
std::string uneven_replicas(const PlanRequest& request, int replicas);

// A stage of ranks in the order tensor-parallel GPUs, replicas, stages: the operators from `first` on of layers before `end`, on
// the `at`-th `wide` GPUs of the group, with the shardings of `division`.
Stage grid_stage(const PlanRequest& request, std::size_t first, std::int64_t end, int at, std::size_t wide, int tensor,
                 const std::function<Division(const Operator&)>& division);

// Number of micro-batches that training.micro_batch implies for this number of replicas, which compute apart: the
// smallest that divides each one's share (where shares differ, the batch) and gives none of them more sequences at once, or
// the largest that leaves none idle. `otherwise` where it is not stated.
int in_micro_batches(const PlanRequest& request, int replicas, int otherwise);

// Default numbers of micro-batches, where training.micro_batch states none. One sequence per GPU if each computes its own (or, if that does not divide the
// batch, the next larger share); one sequence for all of them; all of a GPU's sequences at once.
int one_sequence_each(const PlanRequest& request);
int one_sequence(const PlanRequest& request);
int all_at_once(const PlanRequest& request);

Launcher launched_by_processes(const TechniqueOptions& options);
Launcher launched_by_driver(const TechniqueOptions& options);

// The reason why DeepSpeed cannot run a plan that divides operators or layers.
std::string not_deepspeeds(const Technique& technique);
// The reason why Alpa cannot run it.
std::string not_alpas(const Technique& technique);

}  // namespace slmsim
