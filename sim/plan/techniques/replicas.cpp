#include "sim/plan/techniques/replicas.h"

#include <fmt/format.h>

namespace slmsim {

PlanResult plan_replicas(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options] = request;
  const int gpus = static_cast<int>(group.devices.size());
  const int batch = scenario.training.batch;
  if (batch % (options.micro_batches * gpus) != 0) {
    return {std::nullopt,
            fmt::format("a batch of {} in {} micro-batches does not divide over {} GPUs; choose a multiple of {}",
                        batch, options.micro_batches, gpus, options.micro_batches * gpus)};
  }
  Stage stage;
  stage.last = boost::num_vertices(operators);
  stage.mesh = group.devices;
  stage.shardings.assign(stage.last, Sharding::kBatch);
  stage.batch_shares.assign(group.devices.size(), 1.0 / gpus);
  Plan plan;
  plan.technique = options.technique;
  plan.stages = {std::move(stage)};
  plan.micro_batches = options.micro_batches;
  return {std::move(plan), ""};
}

}  // namespace slmsim
