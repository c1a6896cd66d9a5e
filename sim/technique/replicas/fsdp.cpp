// PyTorch's FullyShardedDataParallel (Zhao et al., VLDB 2023, arXiv 2304.11277): parameters, gradients and optimizer
// state are divided over all GPUs, or inside each VM. sim/technique/replicas/fsdp.h describes gathering and reduction.
#include "sim/technique/replicas/fsdp.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/collective/communicator.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

const Option<FsdpStrategy> kStrategy{choice_option(
    {"strategy", "sharding_strategy of FullyShardedDataParallel: what is divided; hybrids divide inside each VM."},
    fsdp_strategy_names)};
const Option<FsdpPrefetch> kBackwardPrefetch{
    choice_option({"backward_prefetch",
                   "Time at which the backward pass gathers the next layer: before this one's gradients are computed, "
                   "before they are reduced, or not ahead."},
                  fsdp_prefetch_names)};
const Option<bool> kForwardPrefetch{flag_option(
    {"forward_prefetch", "Whether the forward pass gathers a layer before the previous one computes."})};
const Option<bool> kLimitAllGathers{
    yes_option({"limit_all_gathers", "Whether the host waits for freed layers before it gathers more."})};
const Option<bool> kCpuOffload{
    flag_option({"cpu_offload", "Whether parts of parameters, gradients and optimizer are in host memory."})};

PlanResult plan_fsdp(const PlanRequest& request) {
  const TechniqueOptions& options = request.options;
  FsdpPlan fsdp{.shards = static_cast<int>(request.group.devices.size()),
                .strategy = options.get(kStrategy),
                .backward = options.get(kBackwardPrefetch),
                .forward_prefetch = options.get(kForwardPrefetch),
                .limit_all_gathers = options.get(kLimitAllGathers),
                .offload = options.get(kCpuOffload),
                .no_sync = options.get(kNoSync)};
  if (fsdp.is_hybrid()) {
    const auto vms = equal_vms(request.scenario.platform, request.group.devices);
    if (vms.empty())
      return {std::nullopt,
              "hybrid strategies need several VMs with the same number of GPUs, at least two; choose full_shard"};
    fsdp.shards = static_cast<int>(vms.front().size());
  }
  if (!fsdp.frees_after_forward() && fsdp.forward_prefetch)
    return {std::nullopt, fmt::format("{} already gathers all layers ahead; leave forward_prefetch out",
                                      name_in(fsdp_strategy_names(), fsdp.strategy))};
  if (fsdp.offload && !fsdp.no_sync && options.micro_batches() > 1)
    return {std::nullopt, "with cpu_offload FSDP adds up gradients inside no_sync only; leave no_sync out"};
  PlanResult result =
      plan_replicas(request, {.optimizer = fsdp.offload ? StatePlace::kHost : StatePlace::kGpu, .bucket = {}});
  if (result.plan) result.plan->by = fsdp;
  return result;
}

Lowered lower_fsdp(const LowerRequest& request) {
  const FsdpPlan& fsdp = request.plan.fsdp();
  ReplicaRun run(request);
  run.launch();
  const Tasks reduced = fsdp_passes(run, fsdp);
  const double own = run.parameters() / fsdp.shards;
  if (fsdp.offload)
    run.cpu_adam(own, run.scenario().framework.cpu_adam, reduced);
  else
    run.adam(own, reduced);
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
    .options = {&kBatchSplit, &kStrategy, &kBackwardPrefetch, &kForwardPrefetch, &kLimitAllGathers, &kCpuOffload,
                &kNoSync},
    .micro_batches = all_at_once,
    .plan = plan_fsdp,
    .lower = lower_fsdp,
    .memory = memory_of_fsdp,
    .stored = stored_by_fsdp,
    .launcher = launched_by_processes,
    .variations = strategy_variations,
    .exports = exports_of_fsdp,
};

}  // namespace slmsim
