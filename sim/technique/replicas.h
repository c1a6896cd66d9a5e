// Replicas of the whole model: the plan that they share, and what the techniques of PyTorch and DeepSpeed have in common.
#pragma once

#include "sim/technique/technique.h"

namespace slmsim {

// How replicas share a micro-batch: kEven as many sequences each; kSpeed so that the last one is done soonest, at least one
// each.
enum class BatchSplit { kEven, kSpeed };
const std::vector<std::string>& batch_split_names();

extern const Option<BatchSplit> kBatchSplit;
// Gradients are summed inside each VM, then between VMs by one GPU per part, then spread inside; of an all-reduce.
extern const Option<bool> kHierarchical;

// In so many pieces, whose steps overlap.
extern const Option<int> kHierarchicalPieces;

// Of PyTorch's: gradients of several micro-batches are reduced once (no_sync()).
extern const Option<bool> kNoSync;

// One stage, every operator divided by sequences.
PlanResult plan_replicas(const PlanRequest& request);
// How a batch is split between GPUs of different models; and whether gradients are summed inside VMs first.
std::vector<Variation> split_variations();
std::vector<Variation> batch_variations();

// The same for PyTorch and DeepSpeed; refuses what the nodes do not have.
PlanResult plan_replicas(const PlanRequest& request, const ReplicaPlan& replicas);
// Of DeepSpeed's techniques.
ExportWays replica_exports(const ExportRequest& request);

}  // namespace slmsim
