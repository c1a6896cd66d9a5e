// What ranks of Megatron-LM must hold: megatron/optimizer/optimizer.py keeps a copy of 16-bit gradients in fp32 all the time,
// and none of those that are added up in fp32 (18 bytes per parameter with 16-bit weights); replicas reduce gradients where
// they lie, and a distributed optimizer keeps 1/d of its state. Activations after Korthikanti et al. (arXiv 2205.05198).
#pragma once

#include <vector>

#include "sim/memory/memory.h"

namespace slmsim {

// Of a plan whose `by` is a MegatronPlan. Chunks of an interleaved schedule are on the same GPUs.
std::vector<DeviceMemory> memory_of_megatron(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);

}  // namespace slmsim
