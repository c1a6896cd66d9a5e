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

const Option<Bytes> kBuffers{size_option(
    {"buffers", "The model's buffers, which the first GPU broadcasts before a forward pass (broadcast_buffers).",
     "none"},
    {{0}, {1e15}}, Bytes{0})};

PlanResult plan_ddp(const PlanRequest& request) {
  return plan_replicas(request, {.stage = 0,
                                 .bucket = request.options.get(kBucket),
                                 .no_sync = request.options.get(kNoSync),
                                 .buffers = request.options.get(kBuffers)});
}

Tasks backward(ReplicaRun& run, bool syncs) {
  const Bytes bucket = run.plan().bucket;
  Bytes waiting{0};
  Tasks reduced = run.none();
  for (std::size_t unit = run.units(); unit-- > 0;) {
    const Tasks done = run.backward(unit, run.none());
    if (!syncs) continue;
    waiting += Bytes{run.parameters(unit) * run.gradient_element()};
    for (; waiting > Bytes{0} && (waiting >= bucket || unit == 0); waiting -= std::min(waiting, bucket))
      reduced = run.collective(Collective::kAllReduce, std::min(waiting, bucket), {}, "all-reduce grads", done);
  }
  return reduced;
}

Lowered lower_ddp(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  Tasks reduced = run.none();
  bool synced = true;  // the last micro-batch; buffers are broadcast after one that was (require_forward_param_sync)
  for (int batch = 0; batch < run.micro_batches(); ++batch) {
    Tasks begin = reduced;  // the backward pass ends with its last bucket
    if (synced && run.plan().buffers > Bytes{0})
      begin = run.broadcast(run.plan().buffers, "broadcast buffers", batch == 0 ? run.gpu_done() : reduced);
    synced = !run.plan().no_sync || batch + 1 == run.micro_batches();
    for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, unit == 0 ? begin : run.none());
    reduced = backward(run, synced);
  }
  run.adam(run.parameters(), reduced);
  return run.finish();
}

ExportWays exports(const ExportRequest& request) {
  ExportWays out = replica_exports(request);
  out.deepspeed.cannot = "DDP is PyTorch's own (torch.nn.parallel.DistributedDataParallel)";
  out.torch = ddp_of_torch(request.plan.replicas());
  out.megatron = {.words = {"--overlap-grad-reduce"}};
  return out;
}

}  // namespace

extern const Technique kDdp = {
    .name = "DDP",
    .summary = "PyTorch: replicas, gradients all-reduced in buckets during the backward pass",
    .looks = {"#cfe3f5", "#0072b2", "v", "-", "---"},
    .options = {&kBatchSplit, &kBucket, &kNoSync, &kBuffers, &kRecompute},
    .micro_batches = all_at_once,
    .plan = plan_ddp,
    .lower = lower_ddp,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .recompute = recompute_as_told,
    .variations = split_variations,
    .exports = exports,
};

}  // namespace slmsim
