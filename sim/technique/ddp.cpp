// PyTorch's DistributedDataParallel (Li et al., VLDB 2020, section 3.2): replicas; gradients are all-reduced in buckets, in
// the order in which the backward pass makes them, while it goes on. The embedding's gradient is the last, since the tied
// head adds to it first.
#include <algorithm>

#include "sim/lower/replica_run.h"
#include "sim/memory/replica_memory.h"
#include "sim/technique/replicas.h"

namespace slmsim {
namespace {

// bucket_cap_mb of torch.nn.parallel.DistributedDataParallel
const Option<Bytes> kBucket{
    size_option({"bucket", "Gradients that are reduced together."}, {{1024}, {1e15}}, Bytes{25 * kMebi})};

PlanResult plan_ddp(const PlanRequest& request) {
  return plan_replicas(request, {.stage = 0, .bucket = request.options.get(kBucket)});
}

Lowered lower_ddp(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, run.none());
  const Bytes bucket = run.plan().bucket;
  Bytes waiting{0};
  Tasks reduced = run.none();
  for (std::size_t unit = run.units(); unit-- > 0;) {
    const Tasks done = run.backward(unit, run.none());
    waiting += Bytes{run.parameters(unit) * run.gradient_element()};
    for (; waiting > Bytes{0} && (waiting >= bucket || unit == 0); waiting -= std::min(waiting, bucket))
      reduced = run.collective(Collective::kAllReduce, std::min(waiting, bucket), {}, "all-reduce grads", done);
  }
  run.adam(run.parameters(), reduced);
  return run.finish();
}

ExportWays exports(const ExportRequest& request) {
  ExportWays out = replica_exports(request);
  out.deepspeed.cannot = "DDP is PyTorch's own (torch.nn.parallel.DistributedDataParallel)";
  out.megatron = {.words = {"--overlap-grad-reduce"}};
  return out;
}

}  // namespace

extern const Technique kDdp = {
    .name = "DDP",
    .summary = "PyTorch: replicas, gradients all-reduced in buckets during the backward pass",
    .looks = {"#ffffff", "#9a9a9a", "v", "-", "---"},
    .options = {&kBucket},
    .micro_batches = all_at_once,
    .plan = plan_ddp,
    .lower = lower_ddp,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .recompute = recompute_by_training,
    .exports = exports,
};

}  // namespace slmsim
