// Memory of GPUs under a plan that divides operators. Activations after Korthikanti et al. (arXiv 2205.05198); ZeRO-2
// (arXiv 1910.02054) divides all states except the weights.
#pragma once

#include <vector>

#include "sim/technique/common/memory.h"

namespace slmsim {

// For a plan whose `by` is an OperatorPlan.
std::vector<DeviceMemory> memory_by_operators(const Plan& plan, const OperatorGraph& operators,
                                              const Scenario& scenario);

// Bytes that GPU `rank` of stage `s` keeps for the backward pass, with `in_flight` micro-batches.
Bytes activations_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                     double in_flight, const Scenario& scenario);

// The same during a pass over one micro-batch. `kept`: at the start of the backward pass, with the logits or, if
// larger, the recomputed last layer in their place. `layer`: the maximum of any layer during its backward pass, its
// input and its recomputed tensors; the backward pass ends with this.
struct ActivationBytes {
  Bytes kept, layer;
};
ActivationBytes activations_by_moment(const Plan& plan, const OperatorGraph& operators, std::size_t rank,
                                      const Scenario& scenario);

}  // namespace slmsim
