#include "sim/plan/techniques/replicas.h"

#include <fmt/format.h>

#include "sim/plan/replica_run.h"

namespace slmsim {

PlanResult plan_replicas(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options] = request;
  const int gpus = static_cast<int>(group.devices.size());
  const int batch = scenario.training.batch;
  if (batch % options.micro_batches != 0) {
    return {std::nullopt,
            fmt::format("a batch of {} does not divide into {} micro-batches", batch, options.micro_batches)};
  }
  const int sequences = batch / options.micro_batches;
  if (sequences < gpus) {
    return {std::nullopt, fmt::format("{} sequences at a time leave some of {} GPUs without one; choose a batch of at "
                                      "least {} or fewer micro-batches",
                                      sequences, gpus, gpus * options.micro_batches)};
  }
  Stage stage;
  stage.last = boost::num_vertices(operators);
  stage.mesh = group.devices;
  stage.shardings.assign(stage.last, Sharding::kBatch);
  // Whole sequences, dealt as evenly as they go.
  for (int rank = 0; rank < gpus; ++rank) {
    const int own = sequences / gpus + (rank < sequences % gpus ? 1 : 0);
    stage.batch_shares.push_back(static_cast<double>(own) / sequences);
  }
  Plan plan;
  plan.technique = options.technique;
  plan.stages = {std::move(stage)};
  plan.micro_batches = options.micro_batches;
  return {std::move(plan), ""};
}

PlanResult plan_replicas(const PlanRequest& request, const ReplicaPlan& replicas) {
  if (request.options.micro_batches != 1)
    return {std::nullopt, fmt::format("{} takes all of a GPU's sequences at once; leave micro_batches out",
                                      name_of(request.options.technique))};
  const Platform& platform = request.scenario.platform;
  for (const int device : request.group.devices) {
    const Vm& vm = platform.vms[static_cast<std::size_t>(platform.devices[static_cast<std::size_t>(device)].vm)];
    if (replicas.optimizer != StatePlace::kGpu && vm.type.inside.of_kind(PartKind::kMemory).empty())
      return {std::nullopt,
              fmt::format("{} does not say what is inside it: there is no memory to offload to", vm.name)};
    if (replicas.optimizer == StatePlace::kDrive && !volume_of(platform, device))
      return {std::nullopt,
              fmt::format("{} has no volume of drives", platform.devices[static_cast<std::size_t>(device)].name)};
  }
  PlanResult result = plan_replicas(request);
  if (result.plan) result.plan->replicas = replicas;
  if (result.plan && replicas.stage > 0) result.plan->optimizer = Optimizer::kDivided;
  return result;
}

}  // namespace slmsim
