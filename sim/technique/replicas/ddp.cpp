// PyTorch's DistributedDataParallel (Li et al., VLDB 2020, section 3.2): replicas; gradients are all-reduced in buckets
// during the backward pass, in the order of computation. The embedding's gradient is the last, since the tied head adds
// to it first.
#include "sim/technique/replicas/gradient_exchange.h"
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/rounds/compressed.h"

namespace slmsim {
namespace {

// bucket_cap_mb of torch.nn.parallel.DistributedDataParallel
const Option<Bytes> kBucket{
    size_option({"bucket", "Bucket size: gradients that are reduced together."}, {{1024}, {1e15}}, Bytes{25 * kMebi})};

const Option<bool> kBucketViews{
    flag_option({"gradient_as_bucket_view", "Whether gradients are views of the reduced buckets, not copies."})};

const Option<Bytes> kBuffers{size_option(
    {"buffers", "The model's buffers, which the first GPU broadcasts before a forward pass (broadcast_buffers).",
     "none"},
    {{0}, {1e15}}, Bytes{0})};

PlanResult plan_ddp(const PlanRequest& request) {
  CompressionChoice choice = compression_of(request);
  if (!choice.reason.empty()) return {std::nullopt, std::move(choice.reason)};
  PlanResult result = plan_replicas(request, {.stage = 0,
                                              .bucket = request.options.get(kBucket),
                                              .bucket_views = request.options.get(kBucketViews),
                                              .no_sync = request.options.get(kNoSync),
                                              .buffers = request.options.get(kBuffers),
                                              .compression = choice.compression});
  if (result.plan) result.plan->workload.warm_up = choice.warm_up;
  return result;
}

// Returns the tasks after which gradients are reduced.
Tasks synchronised_passes(ReplicaRun& run, const Tasks& begin) {
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, unit == 0 ? begin : run.none());
  GradientExchange exchange(run, run.plan().bucket, run.workload().warming ? Compression{} : run.plan().compression);
  for (std::size_t unit = run.units(); unit-- > 0;) exchange.add(unit, run.backward(unit, run.none()));
  return exchange.finished();
}

Lowered lower_ddp(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  Tasks begin = run.none();
  // Buffers are broadcast at the beginning and after a synchronised micro-batch (require_forward_param_sync).
  const auto broadcast = [&](const Tasks& after) {
    if (run.plan().buffers > Bytes{0}) begin = run.broadcast(run.plan().buffers, "broadcast buffers", after);
  };
  broadcast(run.gpu_done());
  const int alone = run.plan().no_sync ? run.micro_batches() - 1 : 0;
  if (alone > 0) {
    run.accumulate(alone, begin);
    begin = run.none();
  }
  Tasks reduced;
  for (int batch = alone; batch < run.micro_batches(); ++batch) {
    if (batch > alone) broadcast(begin = reduced);  // the backward pass ends with its last bucket
    reduced = synchronised_passes(run, begin);
  }
  run.adam(run.parameters(), reduced);
  return run.finish();
}

TechniqueExports exports_of_ddp(const ExportRequest& request) {
  TechniqueExports out = replica_exports(request);
  out.deepspeed.cannot = "DDP is PyTorch's own (torch.nn.parallel.DistributedDataParallel)";
  out.torch = ddp_of_torch(request.plan);
  out.megatron = {.words = {"--overlap-grad-reduce"}};
  if (request.plan.replicas().compression.is_any())
    out.megatron.cannot = "gradients are compressed, for which there is no option";
  return out;
}

std::vector<const OptionSpec*> options() {
  std::vector<const OptionSpec*> out = {&kBatchSplit, &kBucket, &kBucketViews, &kNoSync, &kBuffers};
  const auto& more = compression_options();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::vector<Variation> ddp_variations() { return {split_variations().front(), compression_variation()}; }

}  // namespace

extern const Technique kDdp = {
    .name = "DDP",
    .summary = "PyTorch: replicas, gradients all-reduced in buckets during the backward pass",
    .style = {"#cfe3f5", "#0072b2", "v", "-", "---"},
    .divides_batch = true,
    .trains_adapters = true,
    .options = options(),
    .micro_batches = all_at_once,
    .plan = plan_ddp,
    .lower = lower_ddp,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .remarks = compression_remarks,
    .changes_training = compression_changes_training,
    .variations = ddp_variations,
    .exports = exports_of_ddp,
};

}  // namespace slmsim
