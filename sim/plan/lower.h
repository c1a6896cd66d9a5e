// From a plan to the tasks of its iterations: computations, collectives and transfers between stages.
#pragma once

#include "sim/graph/task_graph.h"
#include "sim/plan/plan.h"

namespace slmsim {

struct LowerRequest {
  const Plan& plan;
  const OperatorGraph& operators;
  const Scenario& scenario;
  const Network& network;
  int iterations = 1;  // one after the other, each after a barrier over all GPUs
};

TaskGraph lower(const LowerRequest& request);

// Makes of a graph that lower() gave for another request what it would give for this one, which differs in the network
// between VMs only. False where that takes lowering anew.
bool lower_again(TaskGraph& graph, const LowerRequest& request);

// The micro-batches of a stage in the order of the schedule: 1F1B or GPipe.
struct Step {
  bool forward = true;
  int micro_batch = 0;
};
std::vector<Step> schedule_steps(const Plan& plan, std::size_t stage);

}  // namespace slmsim
