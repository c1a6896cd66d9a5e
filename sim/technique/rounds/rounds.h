// Common parts of techniques with several steps between exchanges: options, plan, variations and remarks.
#pragma once

#include <vector>

#include "sim/technique/common/lower.h"
#include "sim/technique/common/memory.h"
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

// A technique whose options are the common ones of rounds and its own.
Technique technique_of_rounds(const char* name, const char* summary, const FigureStyle& style,
                              PlanResult (*plan)(const PlanRequest&), const std::vector<const OptionSpec*>& own);

// Inner steps if the scenario allows it, replicas of a VM, the division of the batch.
std::vector<Variation> round_variations();

// A round of replicas that train independently (sim/technique/rounds/round_plan.h): inner steps without dependencies between
// replicas, the exchange of each fragment on a stream of its own, and its update.
//
// An inner step consists of a forward and a backward pass of every micro-batch and Adam; a replica with several GPUs
// sums its gradients in buckets during the last backward pass, as DDP does. After step `begin` of a fragment
// (fragment_steps) and before the next one
//
//   average:  encode - sum - decode - cast of the passes' parameters
//   Nesterov: difference to the outer parameters - encode - sum - decode - outer update - cast
//
// where everything from the decoding on happens after step `end`; the GPU waits for the sum if necessary. Kernels are
// bound by memory: a difference moves 12 bytes per parameter (two fp32 are read, one is written), the outer update 20
// (difference, momentum and outer parameters are read, the latter two written), the cast the bytes that it reads and
// writes. With the outer state in host memory the CPU moves these 20 bytes; outer parameters are copied to the GPU for
// the difference, differences to the host, and new parameters back.
//
// Where the request allows passages and each replica lies within a VM, the first two steps after an exchange are lowered task by
// task, and one task stands for the others (RepeatedSteps in sim/engine/passage.h).
//
// GPUs of a replica share the work: each exchanges and updates its part of a fragment, with the GPUs of the same
// position in other replicas, and the replica gathers the parameters.

// For a plan whose `by` is a RoundPlan.
Lowered lower_round(const LowerRequest& request);

// Memory of replicas that exchange once per round: that of DDP on the GPUs of one replica (replicas.h), plus the memory of the
// exchange.
//
//   outer parameters and momentum   8 bytes per parameter (two copies in fp32), divided over the GPUs of a replica; on the
//                                   GPU or in host memory (arXiv 2501.18512, section on memory overhead); none for averages
//   exchanged data                  of the largest fragment, divided likewise: 4 bytes per parameter of the difference, or of
//                                   the average, and the encoded data, if any. Without a delay no activations are held
//                                   during the exchange; with one they are.

// For a plan whose `by` is a RoundPlan.
std::vector<DeviceMemory> memory_of_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
StoreMemory stored_by_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
