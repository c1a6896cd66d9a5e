// How many floating-point operations each computation of a task graph does: those of matrix products, 2 m n k forward
// and twice that backward, divided over the GPUs as the plan divides the operators.
#pragma once

#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/plan/plan.h"

namespace slmsim {

// One entry per task; 0 for what is no computation of the model. `graph` must be what lower() makes of `plan` for one
// iteration: on each GPU the tasks of a micro-batch's pass stand in the order of its operators.
std::vector<Flops> task_flops(const TaskGraph& graph, const Plan& plan, const OperatorGraph& operators,
                              const Scenario& scenario);

}  // namespace slmsim
