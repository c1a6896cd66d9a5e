// One function per technique: the plan it follows on a group of GPUs, or why it cannot run there.
#pragma once

#include "sim/plan/division_memo.h"
#include "sim/plan/lower.h"
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
PlanResult plan_ddp(const PlanRequest& request);
PlanResult plan_megatron(const PlanRequest& request);
PlanResult plan_deepspeed1(const PlanRequest& request);
PlanResult plan_deepspeed2(const PlanRequest& request);
PlanResult plan_deepspeed3(const PlanRequest& request);
PlanResult plan_offload1(const PlanRequest& request);
PlanResult plan_offload2(const PlanRequest& request);
PlanResult plan_offload3(const PlanRequest& request);
PlanResult plan_infinity(const PlanRequest& request);
PlanResult plan_infinity_parameters(const PlanRequest& request);

// What PyTorch, DeepSpeed and Megatron-LM do in an iteration; other techniques' plans lower by their operators alone
// (sim/plan/lower.h).
TaskGraph lower_ddp(const LowerRequest& request);
TaskGraph lower_megatron(const LowerRequest& request);
TaskGraph lower_deepspeed1(const LowerRequest& request);
TaskGraph lower_deepspeed2(const LowerRequest& request);
TaskGraph lower_deepspeed3(const LowerRequest& request);
TaskGraph lower_offload(const LowerRequest& request);
TaskGraph lower_infinity(const LowerRequest& request);

// Calls the function of the request's technique, with the number of micro-batches settled.
PlanResult make_plan(const PlanRequest& request);

// Lowers a plan as its technique has it.
TaskGraph lower_technique(const LowerRequest& request);
// As lower_again(); false also where the technique has a lowering of its own.
bool lower_technique_again(TaskGraph& graph, const LowerRequest& request);

}  // namespace slmsim
