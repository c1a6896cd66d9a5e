// An iteration of operators divided over meshes: stages run their micro-batches in the schedule's order, collectives block
// their GPU's stream, and the optimizer steps when all gradients are there (Alpa).
#pragma once

#include <vector>

#include "sim/lower/lower.h"
#include "sim/lower/pipeline_commands.h"

namespace slmsim {

// Of a plan whose `by` is an OperatorPlan.
Lowered lower_operators(const LowerRequest& request);

// Makes of a graph that lower_operators() gave for another request what it would give for this one, which differs in the
// network between VMs only. False where that takes lowering anew.
bool lower_operators_again(TaskGraph& graph, const LowerRequest& request);

// So many micro-batches of a stage in the order of the schedule.
std::vector<Step> schedule_steps(const Plan& plan, std::size_t stage, int count);

}  // namespace slmsim
