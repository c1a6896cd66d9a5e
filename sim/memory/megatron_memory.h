// What ranks of Megatron-LM must hold: megatron/optimizer/optimizer.py keeps the copy of the gradients in fp32 all the time;
// activations after Korthikanti et al. (arXiv 2205.05198).
#pragma once

#include <vector>

#include "sim/memory/memory.h"

namespace slmsim {

// Of a plan whose `by` is a MegatronPlan. Chunks of an interleaved schedule are on the same GPUs.
std::vector<DeviceMemory> memory_of_megatron(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);

}  // namespace slmsim
