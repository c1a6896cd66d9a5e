// PyTorch's FullyShardedDataParallel (Zhao et al., VLDB 2023, arXiv 2304.11277): parameters, gradients and optimizer
// state are divided over all replicas, or inside groups of them; a replica is a GPU, or a grid of tensor-parallel GPUs and
// stages, as torchtitan runs (arXiv 2410.06511). sim/technique/replicas/fsdp.h describes gathering and reduction.
#include "sim/technique/replicas/fsdp.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/collective/communicator.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

const Option<FsdpStrategy> kStrategy{
    choice_option({"strategy",
                   "sharding_strategy of FullyShardedDataParallel: what is divided; hybrids divide inside groups of "
                   "replicas."},
                  fsdp_strategy_names)};
constexpr std::int64_t kMostGpus = 32'000;
const Option<int> kShard{count_option(
    {"shard", "Replicas of a group inside which a hybrid strategy divides.", "those of a VM"}, kMostGpus, 0)};
const Option<int> kTensor{
    count_option({"tensor", "GPUs over which a layer is divided, by PyTorch's DTensor."}, kMostGpus, 1)};
const Option<int> kStages{count_option(
    {"pipeline", "Stages of a pipeline (1F1B); parameters then stay whole for all micro-batches."}, kMostGpus, 1)};
const Option<bool> kSequenceParallel{
    yes_option({"sequence_parallel", "With tensor, whether norms and residuals are divided by tokens."})};
const Option<bool> kGatherOnce{
    yes_option({"gather_once", "With tensor, whether products that share an input exchange it once, not each."})};
constexpr std::int64_t kMostLayers = 1 << 20;
const Option<int> kUnitLayers{
    count_option({"unit_layers", "Layers of a unit, which are gathered and reduced together."}, kMostLayers, 1)};
const Option<TensorEnds> kEnds{choice_option(
    {"ends",
     "With tensor, embedding, head and loss: divided by the vocabulary, with logits gathered for the loss, "
     "or whole on each GPU."},
    tensor_ends_names)};
const Option<FsdpPrefetch> kBackwardPrefetch{
    choice_option({"backward_prefetch",
                   "Time at which the backward pass gathers the next layer: before this one's gradients are computed, "
                   "before they are reduced, or not ahead."},
                  fsdp_prefetch_names)};
const Option<bool> kForwardPrefetch{
    flag_option({"forward_prefetch", "Whether the forward pass gathers a layer before the previous one computes."})};
const Option<bool> kLimitAllGathers{
    yes_option({"limit_all_gathers", "Whether the host waits for freed layers before it gathers more."})};
const Option<bool> kCpuOffload{
    flag_option({"cpu_offload", "Whether parts of parameters, gradients and optimizer are in host memory."})};

FsdpPlan fsdp_of(const PlanRequest& request) {
  const TechniqueOptions& options = request.options;
  FsdpPlan out{
      .pipeline = options.get(kStages),
      .unit_layers = options.get(kUnitLayers),
      .tensor = {options.get(kTensor), options.get(kSequenceParallel), !options.get(kGatherOnce), options.get(kEnds)},
      .strategy = options.get(kStrategy),
      .backward = options.get(kBackwardPrefetch),
      .forward_prefetch = options.get(kForwardPrefetch),
      .limit_all_gathers = options.get(kLimitAllGathers),
      .offload = options.get(kCpuOffload),
      .no_sync = options.get(kNoSync)};
  out.replicas = static_cast<int>(request.group.devices.size()) / (out.tensor.tensor * out.pipeline);
  out.shards = out.replicas;
  return out;
}

// Sets the size of the groups of a hybrid strategy; returns why it cannot.
std::string divide_into_groups(const PlanRequest& request, FsdpPlan& fsdp) {
  const int shard = request.options.get(kShard);
  if (!fsdp.is_hybrid()) return shard == 0 ? "" : "shard is the group of a hybrid strategy; set strategy: hybrid_shard";
  if (shard == 0) {
    const auto vms = equal_vms(request.scenario.platform, request.group.devices);
    if (vms.empty() || fsdp.is_grid())
      return "a hybrid strategy needs several VMs with the same number of GPUs; set shard, or use full_shard";
    for (const auto& vm : vms) {
      if (vm.back() - vm.front() + 1 != vm.size()) return "hybrid strategies need a group's GPUs listed VM by VM";
    }
    fsdp.shards = static_cast<int>(vms.front().size());
    return "";
  }
  if (fsdp.replicas % shard != 0 || shard == fsdp.replicas)
    return fmt::format("shard {} is no part of {} replicas; choose a smaller divisor of it{}", shard, fsdp.replicas,
                       shard == fsdp.replicas ? ", or full_shard" : "");
  fsdp.shards = shard;
  fsdp.states_groups = true;
  return "";
}

// Why tensor-parallel GPUs and stages cannot be.
std::string misfit(const PlanRequest& request, const FsdpPlan& fsdp) {
  const auto& [scenario, model, operators, group, options, tables] = request;
  const int gpus = static_cast<int>(group.devices.size()), tensor = fsdp.tensor.tensor, pipeline = fsdp.pipeline;
  if (gpus % (tensor * pipeline) != 0)
    return fmt::format("tensor {} x pipeline {} does not divide {} GPUs", tensor, pipeline, gpus);
  if (std::string uneven = uneven_tensor(model, tensor); !uneven.empty()) return uneven;
  if (model.layers < pipeline) return fmt::format("{} layers are fewer than {} stages", model.layers, pipeline);
  if (pipeline > 1 && tied_parameters(operators) > 0)
    return "a tied embedding is on the first and the last stage; FSDP has none in a pipeline";
  if (fsdp.tensor.ends == TensorEnds::kWhole && fsdp.tensor.sequence_parallel)
    return "ends: whole is for layers that exchange whole activations; set sequence_parallel: no";
  if (pipeline > 1 && !fsdp.no_sync) return "in a pipeline gradients are reduced once; leave no_sync out";
  if (model.lora || fsdp.offload)
    return fmt::format("{} is modelled without tensor and pipeline; leave these out",
                       fsdp.offload ? "cpu_offload" : "training.lora");
  if (options.get(kBatchSplit) != BatchSplit::kEven)
    return "batch_split: speed is for replicas of one GPU; leave tensor and pipeline out";
  return uneven_replicas(request, fsdp.replicas);
}

// Layers of a stage. Of a remainder the stages behind the first get one each (torchtitan, generate_split_points).
std::int64_t stage_layers(std::int64_t layers, int stages, int stage) {
  return layers / stages + (stage > 0 && stage <= layers % stages ? 1 : 0);
}

// Ranks are in the order tensor-parallel GPUs, replicas, stages, so that the closest GPUs exchange most.
PlanResult plan_grid(const PlanRequest& request, const FsdpPlan& fsdp) {
  Plan plan = begin_plan(request);
  const TensorPlan& tensor = fsdp.tensor;
  const auto wide = static_cast<std::size_t>(tensor.tensor * fsdp.replicas);
  const auto sharding_of = [&](const Operator& op) {
    return Division{
        fsdp.replicas > 1 ? Sharding::kBatch : Sharding::kReplicated,
        tensor_sharding(op, {.tensor = tensor.tensor, .ends = tensor.ends}, layer_count(request.operators))};
  };
  std::size_t op = 0;
  std::int64_t end = 0;
  for (int s = 0; s < fsdp.pipeline; ++s) {
    end += stage_layers(request.model.layers, fsdp.pipeline, s);
    const bool is_last = s + 1 == fsdp.pipeline;
    Stage stage = grid_stage(request, op, is_last ? request.model.layers + 1 : end, s, wide, tensor.tensor, sharding_of);
    stage.token_parts = tensor.sequence_parallel ? tensor.tensor : 1;
    op = stage.last;
    plan.stages.push_back(std::move(stage));
  }
  return {std::move(plan), ""};
}

PlanResult plan_fsdp(const PlanRequest& request) {
  FsdpPlan fsdp = fsdp_of(request);
  std::string problem = fsdp.is_grid() ? misfit(request, fsdp) : "";
  if (problem.empty()) problem = divide_into_groups(request, fsdp);
  if (!problem.empty()) return {std::nullopt, std::move(problem)};
  if ((!fsdp.frees_after_forward() || fsdp.pipeline > 1) && fsdp.forward_prefetch)
    return {std::nullopt,
            fmt::format("{} already gathers all layers ahead; leave forward_prefetch out",
                        fsdp.pipeline > 1 ? "a pipeline" : name_in(fsdp_strategy_names(), fsdp.strategy))};
  if (fsdp.tensor.tensor == 1 && fsdp.tensor != TensorPlan{})
    return {std::nullopt, "sequence_parallel, gather_once and ends have no effect without tensor; set tensor"};
  if (fsdp.offload && !fsdp.no_sync && request.options.micro_batches() > 1)
    return {std::nullopt, "with cpu_offload FSDP adds up gradients inside no_sync only; leave no_sync out"};
  PlanResult result =
      fsdp.is_grid()
          ? plan_grid(request, fsdp)
          : plan_replicas(request, {.optimizer = fsdp.offload ? StatePlace::kHost : StatePlace::kGpu, .bucket = {}});
  if (result.plan) result.plan->by = fsdp;
  return result;
}

// All of a replica's sequences at once, or one micro-batch per stage.
int micro_batches(const PlanRequest& request) {
  const FsdpPlan fsdp = fsdp_of(request);
  return in_micro_batches(request, std::max(1, fsdp.replicas), fsdp.pipeline);
}

std::int64_t layers_at(const TechniqueOptions& options, std::int64_t k) { return k + options.get(kStages) - 1; }

Lowered lower_fsdp(const LowerRequest& request) {
  const FsdpPlan& fsdp = request.plan.fsdp();
  ReplicaRun run(request);
  run.launch();
  fsdp_passes(run, fsdp, [&](double own, const Tasks& reduced) {
    if (fsdp.offload)
      run.cpu_adam(own, run.scenario().framework.cpu_adam, reduced);
    else
      run.adam(own, reduced);
  });
  return run.finish();
}

// Strategies that the group's nodes allow.
std::vector<Variation> strategy_variations() {
  const Variation strategy = {.values =
                                  [](const VariationRequest& r) {
                                    return r.group.equal_vms ? std::vector{0, 1, 2, 3} : std::vector{0, 1};
                                  },
                              .apply = [](TechniqueOptions& o, int value, const Scenario&,
                                          int) { o.set(kStrategy, static_cast<FsdpStrategy>(value)); },
                              .words = [](const TechniqueOptions&, int value) -> std::string {
                                return value == 0 ? "" : fsdp_strategy_names()[value];
                              }};
  return {split_variations().front(), strategy};
}

TechniqueExports exports_of_fsdp(const ExportRequest& request) {
  TechniqueExports out;
  out.deepspeed.cannot = "FSDP is PyTorch's own (torch.distributed.fsdp)";
  out.megatron.cannot = out.deepspeed.cannot;
  out.alpa.cannot = not_alpas(*request.plan.technique);
  out.torch = fsdp_of_torch(request.plan.fsdp());
  return out;
}

}  // namespace

extern const Technique kFsdp = {
    .name = "FSDP",
    .summary = "PyTorch: parameters, gradients and optimizer divided, layers gathered ahead",
    .style = {"#d9f0e7", "#3fb795", "8 1 0", "0 4 1", "\\\\\\"},
    .trains_adapters = true,
    .options = {&kBatchSplit, &kStrategy, &kShard, &kUnitLayers, &kTensor, &kStages, &kSequenceParallel, &kGatherOnce,
                &kEnds, &kBackwardPrefetch, &kForwardPrefetch, &kLimitAllGathers, &kCpuOffload, &kNoSync},
    .micro_batches = micro_batches,
    .plan = plan_fsdp,
    .lower = lower_fsdp,
    .memory = memory_of_fsdp,
    .stored = stored_by_fsdp,
    .launcher = launched_by_processes,
    .layers_at = layers_at,
    .variations = strategy_variations,
    .exports = exports_of_fsdp,
};

}  // namespace slmsim
