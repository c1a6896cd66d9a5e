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
#pragma once

#include <vector>

#include "sim/technique/common/memory.h"

namespace slmsim {

// For a plan whose `by` is a ReplicaPlan.
std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);
StoreMemory stored_by_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
