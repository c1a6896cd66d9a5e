// Common parts of techniques with several steps between exchanges: options, plan, variations and remarks.
#pragma once

#include "sim/technique/common/technique.h"

namespace slmsim {

extern const Option<int> kInnerSteps;
extern const Option<ReplicaOf> kReplicaOf;
extern const Option<SumBy> kSumBy;
extern const Option<Bytes> kInnerBucket;

// One stage of replicas; `how` describes the exchange, still without `gpus` and `replica`. Refuses fewer than two
// replicas, replicas of unequal size, formats that NCCL cannot add, and an outer state in host memory that the nodes do
// not describe.
PlanResult plan_rounds(const PlanRequest& request, RoundPlan how);

// Values to try in addition to the default, which is 0.
std::vector<int> with_usual(std::vector<int> values, int usual);

// Inner steps if the scenario allows it, replicas of a VM, the division of the batch.
std::vector<Variation> round_variations();

// The number of steps between exchanges, and that it changes the training.
std::vector<std::string> round_remarks(const Plan& plan);
inline bool rounds_change_training(const TechniqueOptions&) { return true; }

// For torchft, and the reasons why there are no others.
TechniqueExports round_exports(const ExportRequest& request);

}  // namespace slmsim
