#include "sim/select/basis.h"

#include <algorithm>

#include "sim/plan/holding.h"
#include "sim/plan/stage_program.h"

namespace slmsim {
namespace {

TimeBasis operator*(const TimeBasis& basis, double factor) {
  return {basis.measured * factor, basis.interpolated * factor, basis.roofline * factor};
}

}  // namespace

std::optional<TimeBasis> computation_basis(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const auto gpu_of = [&](int device) -> const Gpu& {
    return scenario.platform.devices[static_cast<std::size_t>(device)].gpu;
  };
  if (std::none_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
        return std::any_of(stage.mesh.begin(), stage.mesh.end(), [&](int device) { return gpu_of(device).kernels; });
      })) {
    return std::nullopt;
  }
  const Training& training = scenario.training;
  TimeBasis sum;
  for (const auto& stage : plan.stages) {
    const auto program = stage_program(operators, stage, micro_batch_sequences(plan, training), scenario);
    const double parameters = updated_parameters(plan, stage, held_parameters(operators, stage));
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      sum += program.basis[rank] * plan.micro_batches;
      adam_time(parameters, gpu_of(stage.mesh[rank]), training.precision, training.gradient_precision,
                scenario.efficiency, &sum);
    }
  }
  return sum;
}

}  // namespace slmsim
