// Replicas of the whole model: their common plan, and the common parts of PyTorch's and DeepSpeed's techniques.
#pragma once

#include "sim/technique/common/technique.h"

namespace slmsim {

// Division of a micro-batch between replicas: kEven equal numbers of sequences; kSpeed the earliest end of the last
// replica, at least one sequence each.
enum class BatchSplit { kEven, kSpeed };
const std::vector<std::string>& batch_split_names();

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
// For DeepSpeed's techniques.
TechniqueExports replica_exports(const ExportRequest& request);

}  // namespace slmsim
