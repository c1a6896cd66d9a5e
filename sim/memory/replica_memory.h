// What replicas of PyTorch and DeepSpeed must hold on GPUs, in host memory and on drives.
//
// States as their optimizers keep them (ZeRO, arXiv 1910.02054, section 3.1; deepspeed/runtime/zero/stage_1_and_2.py): see
// StateBytes, with the copy of the gradients at the step. DDP on several GPUs reduces copies of the gradients in its buckets, or
// has them there. What compression keeps (cost/compression.h) and what PyTorch's optimizer holds while it steps count as
// buffers.
//
// PyTorch lets go of gradients when the optimizer has stepped: with one micro-batch none exist when the loss's backward pass
// begins, where activations are most. The peak is the largest of that moment, of the backward pass's end and of the step.
#pragma once

#include <vector>

#include "sim/memory/memory.h"

namespace slmsim {

// Of a plan whose `by` is a ReplicaPlan.
std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);
StoreMemory stored_by_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
