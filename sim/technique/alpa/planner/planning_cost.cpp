#include "sim/technique/alpa/planner/planning_cost.h"

#include <algorithm>
#include <array>
#include <memory>

#include "sim/collective/collective_time.h"
#include "sim/technique/alpa/planner/speed.h"

namespace slmsim {

double alpa_cost(const CollectiveCall& call, const MeshShape& shape) {
  // LogicalDeviceMesh's mesh_alpha and mesh_beta of a physical mesh: along hosts, and along the GPUs of one.
  constexpr std::array kAlpha = {1.0, 1.0}, kBeta = {1.0, 0.1};
  const bool flat = shape[0] < 2 || shape[1] < 2;
  const double x = call.size.value;
  double cost = 0;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (shape[a] < 2 || !contains(call.axes, a)) continue;
    const double n = shape[a];
    const double alpha = flat ? std::max(kAlpha[0], kAlpha[1]) : kAlpha[a];
    const double beta = flat ? std::min(kBeta[0], kBeta[1]) : kBeta[a];
    const double part = beta * (n - 1) / n * x;
    if (call.all_to_all) {
      cost += alpha + part / n * (n / 2) + 0.001;
    } else if (call.collective == Collective::kAllReduce) {
      cost += alpha + 2 * part + 0.01;
    } else {
      cost += alpha + part + (call.collective == Collective::kAllGather ? 0.1 : 0.001);
    }
  }
  return cost;
}

PlanningCosts alpa_costs(const MeshShape& shape) {
  PlanningCosts costs;
  costs.collective = [shape](const CollectiveCall& call) { return alpa_cost(call, shape); };
  costs.gradients = [shape](Bytes size, Axes axes) {
    return axes == 0 ? 0.0 : alpa_cost({Collective::kAllReduce, size, axes}, shape);
  };
  costs.compute = [](const Operator&, const Division&) { return ComputationCost{}; };
  costs.update = [](double) { return 0.0; };
  costs.batch_on_first_axis = shape[0] > 1 && shape[1] > 1;
  return costs;
}

PlanningCosts time_costs(const Scenario& scenario, const Network& network, const std::vector<int>& mesh,
                         const MeshShape& shape, double sequences, int micro_batches) {
  // Each kind of GPU once; the slowest one counts, since collectives wait for it.
  const std::vector<Gpu> gpus = different_gpus(scenario.platform, mesh);
  const auto times = std::make_shared<CollectiveTimes>(network, scenario.nccl_setup(), mesh, shape);
  const auto training = scenario.training;
  const auto software = scenario.software;
  PlanningCosts costs;
  costs.micro_batches = micro_batches;
  costs.may_recompute = true;
  costs.collective = [times](const CollectiveCall& call) { return times->of(call).value; };
  costs.gradients = [times](Bytes size, Axes axes) {
    // They are fused into one buffer, so each is charged by its bytes and not for a loop of its own.
    constexpr Bytes kFused{kGiga};
    return times->of({Collective::kAllReduce, kFused, axes}).value * (size / kFused);
  };
  costs.compute = [=](const Operator& op, const Division& division) {
    const Share share{span(axes_of(division, Sharding::kColumn), shape), span(axes_of(division, Sharding::kRow), shape),
                      sequences / span(axes_of(division, Sharding::kBatch), shape)};
    OperatorTime slowest;
    for (const Gpu& gpu : gpus) {
      const OperatorTime time = operator_time(op, share, gpu, training.precision, software);
      slowest.forward = std::max(slowest.forward, time.forward);
      slowest.backward = std::max(slowest.backward, time.backward);
    }
    return ComputationCost{slowest.forward.value, slowest.backward.value};
  };
  costs.update = [=](double weights) {
    Seconds slowest{0};
    for (const Gpu& gpu : gpus) {
      const Seconds none = update_time(0, gpu, training.update(), software);
      slowest = std::max(slowest, update_time(weights, gpu, training.update(), software) - none);
    }
    return slowest.value;
  };
  return costs;
}

}  // namespace slmsim
