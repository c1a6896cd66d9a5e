// Replicas of the whole model: their common plan, and the common parts of PyTorch's and DeepSpeed's techniques.
#pragma once

#include <vector>

#include "sim/technique/common/memory.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

// Division of a micro-batch between replicas: kEven equal numbers of sequences; kSpeed the earliest end of the last
// replica, at least one sequence each.
enum class BatchSplit { kEven, kSpeed };

extern const Option<BatchSplit> kBatchSplit;
// Gradients are summed inside each VM, then between VMs by one GPU per part, then distributed inside each VM; for an
// all-reduce.
extern const Option<bool> kHierarchical;

// Number of pieces, whose steps overlap.
extern const Option<int> kHierarchicalPieces;

// For PyTorch's techniques: gradients of several micro-batches are reduced once (no_sync()).
extern const Option<bool> kNoSync;

// One stage, every operator divided by sequences.
PlanResult plan_replicas(const PlanRequest& request);
// Variations: the division of a batch between GPUs of different models, and summing gradients inside VMs first.
std::vector<Variation> split_variations();
std::vector<Variation> batch_variations();

// The same for PyTorch and DeepSpeed; refuses storage that the nodes do not have.
PlanResult plan_replicas(const PlanRequest& request, const ReplicaPlan& replicas);
// DeepSpeed's techniques: their exports, and one without options of its own.
TechniqueExports replica_exports(const ExportRequest& request);
Technique technique_of_replicas(const char* name, const char* summary, const FigureStyle& style,
                                PlanResult (*plan)(const PlanRequest&), Lowered (*lower)(const LowerRequest&));

// Memory of replicas of PyTorch and DeepSpeed on GPUs, in host memory and on drives.
//
// States as their optimizers keep them (ZeRO, arXiv 1910.02054, section 3.1; deepspeed/runtime/zero/stage_1_and_2.py):
// see StateBytes, with the copy of the gradients at the step. DDP on several GPUs reduces copies of the gradients in
// its buckets, or stores the gradients there. The memory of compression (cost/compression.h) and the temporaries of
// PyTorch's optimizer count as buffers.
//
// PyTorch releases gradients after the optimizer's step: with one micro-batch none exist when the loss's backward pass
// begins, where activations are largest. The peak is the largest of that moment, the end of the backward pass and the
// step.

// For a plan whose `by` is a ReplicaPlan.
std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);
// The same where only this number of GPUs, and not all of the plan's, divide states or sum gradients with each other.
std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario,
                                             std::size_t ranks);
StoreMemory stored_by_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
