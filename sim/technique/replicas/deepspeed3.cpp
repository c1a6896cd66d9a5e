// DeepSpeed's ZeRO-3 (arXiv 1910.02054, section 5.3): parameters, gradients and optimizer state are divided. Each GPU
// updates its own part; nothing is gathered afterwards, since the next iteration gathers layer by layer.
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"

namespace slmsim {
namespace {

PlanResult plan_deepspeed3(const PlanRequest& request) { return plan_replicas(request, {.stage = 3, .bucket = {}}); }

Lowered lower_deepspeed3(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  Tasks reduced;
  for (int batch = 0; batch < run.micro_batches(); ++batch) reduced = stage3_passes(run);
  run.adam(run.parameters() / static_cast<double>(run.ranks()), reduced);
  return run.finish();
}

}  // namespace

extern const Technique kDeepSpeed3 = {
    .name = "ZeRO-3",
    .summary = "DeepSpeed: parameters divided as well, gathered layer by layer",
    .looks = {"#e0b000", "#8a6600", ">", "0 6 1.5 1 1.5 1 1.5", "|||"},
    .trains_adapters = true,
    .options = {&kBatchSplit},
    .micro_batches = all_at_once,
    .plan = plan_deepspeed3,
    .lower = lower_deepspeed3,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .variations = split_variations,
    .exports = replica_exports,
};

}  // namespace slmsim
