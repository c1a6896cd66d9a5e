#include "sim/select/basis.h"

#include "sim/plan/holding.h"
#include "sim/plan/stage_program.h"

namespace slmsim {
namespace {

TimeBasis operator*(const TimeBasis& basis, double factor) {
  return {basis.measured * factor, basis.interpolated * factor, basis.roofline * factor};
}

}  // namespace

std::optional<TimeBasis> computation_basis(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const Training& training = scenario.training;
  bool any = false;
  TimeBasis sum;
  for (const auto& stage : plan.stages) {
    const auto program = stage_program(operators, stage, micro_batch_sequences(plan, training), scenario);
    const double parameters = updated_parameters(plan, stage, held_parameters(operators, stage));
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      const Gpu& gpu = scenario.platform.devices[static_cast<std::size_t>(stage.mesh[rank])].gpu;
      any = any || gpu.kernels;
      sum += program.basis[rank] * plan.micro_batches;
      adam_time(parameters, gpu, training.precision, training.gradient_precision, scenario.efficiency, &sum);
    }
  }
  return any ? std::optional(sum) : std::nullopt;
}

}  // namespace slmsim
