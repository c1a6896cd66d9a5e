// What techniques of several steps between exchanges have in common: their options, the plan, what may vary, what is said
// beside it.
#pragma once

#include "sim/technique/technique.h"

namespace slmsim {

extern const Option<int> kInnerSteps;
extern const Option<ReplicaOf> kReplicaOf;
extern const Option<SumBy> kSumBy;
extern const Option<Bytes> kInnerBucket;

// One stage of replicas; `how` says what is exchanged, and has no `gpus` and `replica` yet. Refuses what makes fewer than
// two replicas, replicas of unequally many GPUs, formats that NCCL cannot add, and an outer state in host memory that the
// nodes do not describe.
PlanResult plan_rounds(const PlanRequest& request, RoundPlan how);

// Values to try beside the usual one, which is 0.
std::vector<int> with_usual(std::vector<int> values, int usual);

// Inner steps where the scenario allows it, replicas of a VM, the split of the batch.
std::vector<Variation> round_variations();

// How many steps lie between exchanges, and that this changes the training.
std::vector<std::string> round_remarks(const Plan& plan);
inline bool rounds_change_training(const TechniqueOptions&) { return true; }

// Of torchft, and why there are no others.
ExportWays round_exports(const ExportRequest& request);

}  // namespace slmsim
