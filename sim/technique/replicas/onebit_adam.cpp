// DeepSpeed's 1-bit Adam (Tang et al., arXiv 2102.02888, algorithm 1): after a warm-up with all-reduced gradients the
// second moment is frozen, and replicas exchange momenta as signs and a scale: each sends every other one its share,
// sums the received ones, and all gather the signs of the sums (NcclBackend.compressed_allreduce,
// deepspeed/runtime/comm/nccl.py). The exchange is part of the optimizer's step, after the backward pass, on the GPU's
// stream. Parameters count as one tensor, as DeepSpeed's FP16_Optimizer flattens them; in the warm-up gradients are
// flattened, divided and copied back (engine.py, allreduce_and_copy and allreduce_bucket).
#include "sim/technique/common/layer_work.h"
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"
#include "sim/technique/rounds/compressed.h"

namespace slmsim {
namespace {

// freeze_step of OnebitAdam.
const Option<int> kFreezeStep{count_option(
    {"warm_up", "Number of first steps of the job, which exchange whole gradients (freeze_step).", "100000"},
    1'000'000'000, 100'000)};

PlanResult plan_onebit_adam(const PlanRequest& request) {
  if (request.scenario.training.optimizer != UpdateRule::kAdam)
    return {std::nullopt, "1-bit Adam is a variant of Adam; set training.optimizer: adam"};
  if (request.group.devices.size() < 2)
    return {std::nullopt, "1-bit Adam has no effect on one GPU, which exchanges nothing; choose DDP"};
  const int warm_up = request.options.get(kFreezeStep);
  if (std::string none_left = all_warm_up(request, warm_up); !none_left.empty())
    return {std::nullopt, std::move(none_left)};
  PlanResult result = plan_replicas(request, {.stage = 0, .bucket = {}, .compression = {.by = Compressor::kOneBit}});
  if (result.plan) result.plan->workload.warm_up = warm_up;
  return result;
}

// Exchange of the momenta; kernels and collectives run one after another.
void exchange_signs(ReplicaRun& run) {
  const double numbers = run.parameters();
  const int ranks = static_cast<int>(run.ranks());
  std::vector<Seconds> momentum, encode, sum, decode;
  for (std::size_t rank = 0; rank < run.ranks(); ++rank) {
    const SignTimes times = sign_times(numbers, ranks, run.gradient_element(), run.gpu(rank), run.scenario().software);
    momentum.push_back(times.momentum);
    encode.push_back(times.encode);
    sum.push_back(times.sum);
    decode.push_back(times.decode);
  }
  const Bytes signs = sign_bytes(numbers), scales{kScaleBytes * ranks};
  run.kernels(momentum, "momentum");
  run.wait(run.all_to_all(signs * static_cast<double>(ranks), "all-to-all signs", run.kernels(encode, "signs")));
  run.wait(run.collective(Collective::kAllGather, scales, {}, "all-gather scales", run.gpu_done()));
  run.wait(run.collective(Collective::kAllGather, signs, {}, "all-gather signs", run.kernels(sum, "sum of shares")));
  run.wait(run.collective(Collective::kAllGather, scales, {}, "all-gather scales", run.gpu_done()));
  run.kernels(decode, "momenta of signs");
}

Lowered lower_onebit_adam(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  run.accumulate(run.micro_batches(), run.none());
  Tasks reduced = run.none();
  if (run.workload().warming) {
    const Bytes gradients{run.parameters() * run.gradient_element()};
    reduced = run.copy_buffers(Bytes{2 * copied(gradients.value)}, "grads to buckets", run.none());
    reduced = run.collective(Collective::kAllReduce, gradients, run.reduce_bucket(), "all-reduce grads", reduced);
    reduced = run.copy_buffers(Bytes{copied(gradients.value)}, "grads from buckets", reduced);
  } else {
    exchange_signs(run);
  }
  run.adam(run.parameters(), reduced);
  return run.finish();
}

TechniqueExports exports_of_onebit_adam(const ExportRequest& request) {
  TechniqueExports out = replica_exports(request);
  out.deepspeed.freeze_step = request.plan.workload.warm_up;
  return out;
}

}  // namespace

extern const Technique kOneBitAdam = {
    .name = "OneBitAdam",
    .summary = "DeepSpeed: replicas that exchange signs of momenta after a warm-up",
    .style = {"#4b2a66", "#7b3fa0", "5 1 0", "0 5 2", "xxx"},
    .divides_batch = true,
    .trains_adapters = true,
    .options = {&kBatchSplit, &kFreezeStep},
    .micro_batches = all_at_once,
    .plan = plan_onebit_adam,
    .lower = lower_onebit_adam,
    .memory = memory_of_replicas,
    .launcher = launched_by_processes,
    .remarks = compression_remarks,
    .changes_training = [](const TechniqueOptions&) { return true; },
    .variations = split_variations,
    .exports = exports_of_onebit_adam,
};

}  // namespace slmsim
