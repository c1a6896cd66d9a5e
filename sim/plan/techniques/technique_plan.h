// One function per technique: the plan it follows on a group of GPUs, or why it cannot run there.
#pragma once

#include "sim/plan/division_memo.h"
#include "sim/plan/plan.h"

namespace slmsim {

struct PlanRequest {
  const Scenario& scenario;
  const Transformer& model;
  const OperatorGraph& operators;
  const Group& group;
  const TechniqueOptions& options;
  DivisionMemo* memo = nullptr;  // of Alpa's planner, where there is one
};

PlanResult plan_data(const PlanRequest& request);
PlanResult plan_zero2(const PlanRequest& request);
PlanResult plan_shard(const PlanRequest& request);
PlanResult plan_pipeshard(const PlanRequest& request);

// Calls the function of the request's technique, with the number of micro-batches settled.
PlanResult make_plan(const PlanRequest& request);

}  // namespace slmsim
