// DeepSpeed's ZeRO-2 (arXiv 1910.02054, section 5.2): gradients are divided as well, so that a reduce-scatter is enough.
// With `overlap_comm` off, DeepSpeed's default for stage 2, the backward pass stands still while a bucket is reduced, which
// takes as long as reducing all of them after it.
#include "sim/plan/techniques/replicas.h"
#include "sim/plan/techniques/undivided_passes.h"

namespace slmsim {

PlanResult plan_deepspeed2(const PlanRequest& request) { return plan_replicas(request, {.stage = 2, .bucket = {}}); }

TaskGraph lower_deepspeed2(const LowerRequest& request) {
  return reduce_and_gather(request, Collective::kReduceScatter, "reduce-scatter grads");
}

}  // namespace slmsim
