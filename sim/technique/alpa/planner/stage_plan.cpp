#include "sim/technique/alpa/planner/stage_plan.h"

#include <algorithm>
#include <limits>

#include "sim/collective/nccl_rules.h"
#include "sim/technique/alpa/planner/intra_operator.h"
#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/memory.h"

namespace slmsim {

StageResult plan_stage(const StageRequest& r) {
  const auto& [scenario, model, operators, group, options, tables] = r.request;
  StageResult result;
  Stage stage;
  stage.first = r.first;
  stage.last = r.last;
  stage.mesh = r.mesh;
  stage.columns = r.columns;
  stage.batch_shares.assign(r.mesh.size(), 1.0 / static_cast<double>(r.mesh.size()));
  stage.shardings.assign(r.last - r.first, Division());
  if (r.mesh.size() > 1) {
    const double sequences = static_cast<double>(scenario.training.batch) / options.micro_batches();
    const bool alpa = options.get(kPlanner) == Planner::kAlpa;
    PlanningCosts costs =
        alpa ? alpa_costs(stage.shape())
             : time_costs(scenario, *r.network, r.mesh, stage.shape(), sequences, options.micro_batches());
    if (options.get(kTensor) > 0) {  // degrees are given: the planner only divides products
      costs.batch_on_first_axis = true;
      costs.may_recompute = false;
    }
    const IntraOperatorRequest request{operators,
                                       r.first,
                                       r.last,
                                       stage.shape(),
                                       sequences,
                                       scenario.training,
                                       std::move(costs),
                                       r.memory_limit,
                                       r.micro_batches_in_flight,
                                       attention_on_all(r.mesh, scenario),
                                       scenario.software,
                                       options.recompute(scenario.training.rematerialisation)};
    IntraOperatorPlan plan = divide_operators(request);
    if (plan.shardings.empty() && r.last > r.first) {
      result.reason = std::move(plan.reason);
      return result;
    }
    result.cost = plan.cost;
    stage.shardings = std::move(plan.shardings);
  }
  result.stage = std::move(stage);
  return result;
}

Bytes memory_for_operators(const Scenario& scenario, const std::vector<int>& mesh) {
  Bytes least{std::numeric_limits<double>::infinity()};
  for (const int device : mesh) {
    const Bytes memory = scenario.platform.devices[device].gpu.memory;
    least = std::min(least, memory * scenario.memory.usable_share);
  }
  const Bytes buffers = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, mesh));
  return std::max(Bytes{0}, least - scenario.memory.framework - buffers);
}

}  // namespace slmsim
