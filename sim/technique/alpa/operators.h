// Plans that divide operators over meshes: their iteration, and the memory of their GPUs.
#pragma once

#include <vector>

#include "sim/technique/common/lower.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/pipeline_commands.h"

namespace slmsim {

// An iteration of operators divided over meshes: stages run their micro-batches in the schedule's order, collectives
// block their GPU's stream, and the optimizer steps when all gradients are available (Alpa).

// For a plan whose `by` is an OperatorPlan.
Lowered lower_operators(const LowerRequest& request);

// The steps of `count` micro-batches of a stage, in the order of the schedule.
std::vector<Step> schedule_steps(const Plan& plan, std::size_t stage, int count);

// Memory of GPUs under a plan that divides operators. Activations after Korthikanti et al. (arXiv 2205.05198); ZeRO-2
// (arXiv 1910.02054) divides all states except the weights.

// For a plan whose `by` is an OperatorPlan.
std::vector<DeviceMemory> memory_by_operators(const Plan& plan, const OperatorGraph& operators,
                                              const Scenario& scenario);

// Bytes that GPU `rank` of stage `s` keeps for the backward pass, with `in_flight` micro-batches.
Bytes activations_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                     double in_flight, const Scenario& scenario);

// The same during a pass over one micro-batch. `kept`: at the start of the backward pass, with the logits or, if
// larger, the recomputed last layer in their place. `layer`: the maximum of any layer during its backward pass, its
// input and its recomputed tensors; the backward pass ends with this. `each`: of a further micro-batch in flight.
struct ActivationBytes {
  Bytes kept, layer, each;
};
ActivationBytes activations_by_moment(const Plan& plan, const OperatorGraph& operators, std::size_t rank,
                                      const Scenario& scenario, std::size_t s = 0);

}  // namespace slmsim
