// Memory of Megatron-LM's ranks: megatron/optimizer/optimizer.py permanently keeps an fp32 copy of 16-bit gradients,
// and none of gradients accumulated in fp32 (18 bytes per parameter with 16-bit weights); replicas reduce gradients in
// place, and a distributed optimizer keeps 1/d of its state. Activations after Korthikanti et al. (arXiv 2205.05198).
#pragma once

#include <vector>

#include "sim/technique/common/memory.h"

namespace slmsim {

// For a plan whose `by` is a MegatronPlan. Chunks of an interleaved schedule are on the same GPUs.
std::vector<DeviceMemory> memory_of_megatron(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);

}  // namespace slmsim
