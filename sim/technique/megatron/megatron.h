// Megatron-LM's iteration, and the memory of its ranks.
#pragma once

#include <vector>

#include "sim/technique/common/lower.h"
#include "sim/technique/common/memory.h"

namespace slmsim {

// An iteration of Megatron-LM: 1F1B, or interleaved 1F1B where GPUs hold several chunks of layers (arXiv 2104.04473,
// section 2.2). Tensor-parallel collectives block their GPUs' streams, two per layer and pass; gradients of replicas
// are all-reduced after the last backward pass, or scattered with a distributed optimizer. In the backward pass the
// collective of an input's gradient overlaps with the gradient of the weights, where the plan says so.
Lowered lower_megatron(const LowerRequest& request);

// Memory of Megatron-LM's ranks: megatron/optimizer/optimizer.py permanently keeps an fp32 copy of 16-bit gradients,
// and none of gradients accumulated in fp32 (18 bytes per parameter with 16-bit weights); replicas reduce gradients in
// place, and a distributed optimizer keeps 1/d of its state. Activations after Korthikanti et al. (arXiv 2205.05198).

// For a plan whose `by` is a MegatronPlan. Chunks of an interleaved schedule are on the same GPUs.
std::vector<DeviceMemory> memory_of_megatron(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario);

}  // namespace slmsim
