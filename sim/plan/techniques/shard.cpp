// Shard: Alpa's intra-operator parallelism over all GPUs as one flat mesh (ShardParallel flattens 2 hosts x 2
// GPUs to 4 x 1), so the choice is blind to what lies between the GPUs.
#include <fmt/format.h>

#include "sim/plan/intra_operator.h"
#include "sim/plan/techniques/technique_plan.h"

namespace slmsim {

PlanResult plan_shard(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options] = request;
  const Training& training = scenario.training;
  if (training.batch % options.micro_batches != 0) {
    return {std::nullopt,
            fmt::format("a batch of {} does not divide into {} micro-batches", training.batch, options.micro_batches)};
  }
  Plan plan;
  plan.technique = options.technique;
  plan.micro_batches = options.micro_batches;
  Stage stage;
  stage.last = boost::num_vertices(operators);
  stage.mesh = group.devices;
  stage.batch_shares.assign(stage.mesh.size(), 1.0 / static_cast<double>(stage.mesh.size()));
  stage.shardings = divide_operators({operators, stage.first, stage.last, static_cast<int>(stage.mesh.size()),
                                      micro_batch_sequences(plan, training), plan.micro_batches,
                                      element_bytes(training.precision), element_bytes(training.gradient_precision)});
  plan.stages = {std::move(stage)};
  return {std::move(plan), ""};
}

}  // namespace slmsim
