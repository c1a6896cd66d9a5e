// ZeRO-2 (arXiv 1910.02054, section 5): data parallelism in which each GPU owns a part of the gradients and
// of the optimizer's state, updates its part of the parameters, and all GPUs gather the updated parameters.
//
// Alpa makes ZeRO-2 by turning the gradients' all-reduce into a reduce-scatter; with several micro-batches it
// adds up the gradients of all of them in every GPU and keeps the all-reduce.
#include "sim/plan/techniques/replicas.h"
#include "sim/plan/techniques/technique_plan.h"

namespace slmsim {

PlanResult plan_zero2(const PlanRequest& request) {
  PlanResult result = plan_replicas(request);
  if (result.plan) {
    const bool several = request.options.micro_batches > 1;
    result.plan->optimizer = Optimizer::kDivided;
    result.plan->gradient_collective = request.options.gradient_collective.value_or(
        several ? GradientCollective::kAllReduce : GradientCollective::kReduceScatter);
    if (result.plan->hierarchical && result.plan->gradient_collective == GradientCollective::kReduceScatter) {
      return {std::nullopt, "summing gradients inside VMs first is for gradient_collective: all-reduce"};
    }
    result.plan->gathered = request.options.gathered.value_or(request.scenario.training.precision);
  }
  return result;
}

}  // namespace slmsim
