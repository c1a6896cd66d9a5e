// DeepSpeed's ZeRO-1 (arXiv 1910.02054, section 5.1): the optimizer's state is divided. All gradients are all-reduced after
// the backward pass, each GPU updates its part, and all gather the parameters.
#include "sim/plan/techniques/replicas.h"
#include "sim/plan/techniques/undivided_passes.h"

namespace slmsim {

PlanResult plan_deepspeed1(const PlanRequest& request) { return plan_replicas(request, {.stage = 1, .bucket = {}}); }

TaskGraph lower_deepspeed1(const LowerRequest& request) {
  return reduce_and_gather(request, Collective::kAllReduce, "all-reduce grads");
}

}  // namespace slmsim
