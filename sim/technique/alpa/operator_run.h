// An iteration of operators divided over meshes: stages run their micro-batches in the schedule's order, collectives
// block their GPU's stream, and the optimizer steps when all gradients are available (Alpa).
#pragma once

#include <vector>

#include "sim/technique/common/lower.h"
#include "sim/technique/common/pipeline_commands.h"

namespace slmsim {

// For a plan whose `by` is an OperatorPlan.
Lowered lower_operators(const LowerRequest& request);

// Converts a graph that lower_operators() returned for another request to this one, which differs only in the network
// between VMs. Returns false where that needs a new lowering.
bool lower_operators_again(TaskGraph& graph, const LowerRequest& request);

// The steps of `count` micro-batches of a stage, in the order of the schedule.
std::vector<Step> schedule_steps(const Plan& plan, std::size_t stage, int count);

}  // namespace slmsim
