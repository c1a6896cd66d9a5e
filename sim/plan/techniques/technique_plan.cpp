#include "sim/plan/techniques/technique_plan.h"

#include <algorithm>
#include <array>

namespace slmsim {
namespace {

struct Row {
  Technique technique;
  PlanResult (*plan)(const PlanRequest&);
  bool divides_batch;  // each GPU computes sequences of its own
};

constexpr std::array kTable = {
    Row{Technique::kData, plan_data, true},
    Row{Technique::kZero2, plan_zero2, true},
    Row{Technique::kShard, plan_shard, false},
    Row{Technique::kPipeshard, plan_pipeshard, false},
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

}  // namespace

PlanResult make_plan(const PlanRequest& request) {
  const auto row = std::find_if(kTable.begin(), kTable.end(),
                                [&](const Row& r) { return r.technique == request.options.technique; });
  TechniqueOptions options = request.options;
  if (options.micro_batches == 0) options.micro_batches = smallest_micro_batches(request, row->divides_batch);
  return row->plan({request.scenario, request.model, request.operators, request.group, options, request.memo});
}

}  // namespace slmsim
