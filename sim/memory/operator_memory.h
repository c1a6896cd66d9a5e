// What GPUs hold whose operators are divided as a plan says. Activations after Korthikanti et al. (arXiv 2205.05198); ZeRO-2
// (arXiv 1910.02054) divides all states but the weights.
#pragma once

#include <vector>

#include "sim/memory/memory.h"

namespace slmsim {

// Of a plan whose `by` is an OperatorPlan.
std::vector<DeviceMemory> memory_by_operators(const Plan& plan, const OperatorGraph& operators,
                                              const Scenario& scenario);

// What GPU `rank` of stage `s` keeps for the backward pass, of so many micro-batches in flight.
Bytes activations_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                     double in_flight, const Scenario& scenario);

// Of that, while a pass over one micro-batch goes on. `kept`: when the backward pass begins, with the logits or, if that is
// more, with the last layer computed anew in their place. `layer`: the most that any layer holds while it goes backward, its
// input and what it computes anew; the backward pass ends so.
struct ActivationBytes {
  Bytes kept, layer;
};
ActivationBytes activations_by_moment(const Plan& plan, const OperatorGraph& operators, std::size_t rank,
                                      const Scenario& scenario);

}  // namespace slmsim
