#include "sim/plan/techniques/technique_plan.h"

#include <algorithm>
#include <array>

namespace slmsim {
namespace {

struct Row {
  Technique technique;
  PlanResult (*plan)(const PlanRequest&);
  bool divides_batch;                                 // each GPU computes sequences of its own
  TaskGraph (*lower)(const LowerRequest&) = nullptr;  // absent: by operators
};

constexpr std::array kTable = {
    Row{Technique::kData, plan_data, true},
    Row{Technique::kZero2, plan_zero2, true},
    Row{Technique::kShard, plan_shard, false},
    Row{Technique::kPipeshard, plan_pipeshard, false},
    Row{Technique::kDdp, plan_ddp, true, lower_ddp},
    Row{Technique::kMegatron, plan_megatron, true, lower_megatron},
    Row{Technique::kDeepSpeed1, plan_deepspeed1, true, lower_deepspeed1},
    Row{Technique::kDeepSpeed2, plan_deepspeed2, true, lower_deepspeed2},
    Row{Technique::kDeepSpeed3, plan_deepspeed3, true, lower_deepspeed3},
    Row{Technique::kOffload1, plan_offload1, true, lower_offload},
    Row{Technique::kOffload2, plan_offload2, true, lower_offload},
    Row{Technique::kOffload3, plan_offload3, true, lower_offload},
    Row{Technique::kInfinity, plan_infinity, true, lower_infinity},
    Row{Technique::kInfinityParameters, plan_infinity_parameters, true, lower_infinity},
};

// One sequence per GPU where each computes its own (or, where that does not divide the batch, the next larger share),
// else one sequence for all of them.
int smallest_micro_batches(const PlanRequest& request, bool divides_batch) {
  const int batch = request.scenario.training.batch;
  if (!divides_batch) return batch;
  int count = std::max(1, batch / static_cast<int>(request.group.devices.size()));
  while (batch % count != 0) --count;
  return count;
}

const Row* row_of(Technique technique) {
  return std::find_if(kTable.begin(), kTable.end(), [&](const Row& r) { return r.technique == technique; });
}

}  // namespace

TaskGraph lower_technique(const LowerRequest& request) {
  const auto row = row_of(request.plan.technique);
  return row->lower ? row->lower(request) : lower(request);
}

bool lower_technique_again(TaskGraph& graph, const LowerRequest& request) {
  return !row_of(request.plan.technique)->lower && lower_again(graph, request);
}

PlanResult make_plan(const PlanRequest& request) {
  const auto row = row_of(request.options.technique);
  TechniqueOptions options = request.options;
  // PyTorch's techniques take a GPU's sequences at once.
  if (options.micro_batches == 0 && row->lower) options.micro_batches = std::max(1, options.megatron.pipeline);
  if (options.micro_batches == 0) options.micro_batches = smallest_micro_batches(request, row->divides_batch);
  return row->plan({request.scenario, request.model, request.operators, request.group, options, request.memo});
}

}  // namespace slmsim
