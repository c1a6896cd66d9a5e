#include "sim/plan/techniques/replicas.h"

#include <fmt/format.h>

namespace slmsim {

PlanResult plan_replicas(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, memo] = request;
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

}  // namespace slmsim
