// DeepSpeed's ZeRO-2 (arXiv 1910.02054, section 5.2): gradients are divided as well, so a reduce-scatter is enough.
// With `overlap_comm` off, DeepSpeed's default for stage 2, the backward pass stops while a bucket is reduced, which
// takes the same time as reducing all of them after it.
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"

namespace slmsim {
namespace {

PlanResult plan_deepspeed2(const PlanRequest& request) { return plan_replicas(request, {.stage = 2, .bucket = {}}); }

Lowered lower_deepspeed2(const LowerRequest& request) {
  return reduce_and_gather(request, Collective::kReduceScatter, "reduce-scatter grads");
}

}  // namespace

extern const Technique kDeepSpeed2 = {
    .name = "ZeRO-2",
    .summary = "DeepSpeed: optimizer state and gradients divided",
    .looks = {"#d6a928", "#b98a00", "P", "0 6 1.5 1 1.5", "---"},
    .trains_adapters = true,
    .options = {&kBatchSplit},
    .micro_batches = all_at_once,
    .plan = plan_deepspeed2,
    .lower = lower_deepspeed2,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .variations = split_variations,
    .exports = replica_exports,
};

}  // namespace slmsim
