// DeepSpeed's ZeRO-1 (arXiv 1910.02054, section 5.1): the optimizer's state is divided. All gradients are all-reduced after
// the backward pass, each GPU updates its part, and all gather the parameters.
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"

namespace slmsim {
namespace {

PlanResult plan_deepspeed1(const PlanRequest& request) { return plan_replicas(request, {.stage = 1, .bucket = {}}); }

Lowered lower_deepspeed1(const LowerRequest& request) {
  return reduce_and_gather(request, Collective::kAllReduce, "all-reduce grads");
}

}  // namespace

extern const Technique kDeepSpeed1 = {
    .name = "ZeRO-1",
    .summary = "DeepSpeed: optimizer state divided over the GPUs",
    .looks = {"#fdf0c8", "#d8a200", "<", "0 6 1.5", "///"},
    .trains_adapters = true,
    .options = {&kBatchSplit},
    .micro_batches = all_at_once,
    .plan = plan_deepspeed1,
    .lower = lower_deepspeed1,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .variations = split_variations,
    .exports = replica_exports,
};

}  // namespace slmsim
