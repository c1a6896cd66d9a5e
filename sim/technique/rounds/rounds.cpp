#include "sim/technique/rounds/rounds.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {

// 500: DiLoCo's (arXiv 2311.08105, section 3).
const Option<int> kInnerSteps{count_option(
    {"inner_steps", "Optimizer steps that each replica takes between two exchanges.", "500"}, 1'000'000, 500)};
const Option<ReplicaOf> kReplicaOf{choice_option(
    {"replica",
     "The GPUs of one replica, which sums its gradients at every step: a GPU, those of a VM, or those of a site."},
    replica_of_names)};
const Option<SumBy> kSumBy{
    choice_option({"all_reduce",
                   "Summation of the exchanged data: NCCL's all-reduce, or each rank sums its share, which it gets "
                   "from and sends to all others; auto: NCCL if it can add numbers of the format."},
                  sum_by_names)};
// bucket_cap_mb of torch.nn.parallel.DistributedDataParallel
const Option<Bytes> kInnerBucket{
    size_option({"bucket", "Bucket size: gradients that are reduced together inside a replica."}, {{1024}, {1e15}},
                Bytes{25 * kMebi})};

namespace {

// The group's GPUs replica by replica, in the order of each replica's first GPU; empty where replicas differ in size.
std::vector<std::vector<int>> replicas_of(const PlanRequest& request) {
  const Platform& platform = request.scenario.platform;
  const ReplicaOf of = request.options.get(kReplicaOf);
  std::vector<std::vector<int>> out;
  std::vector<int> names;
  for (const int device : request.group.devices) {
    const int vm = platform.devices[device].vm;
    const int name = of == ReplicaOf::kGpu ? device : of == ReplicaOf::kVm ? vm : platform.vms[vm].site;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      names.push_back(name);
      out.push_back({device});
    } else {
      out[at - names.begin()].push_back(device);
    }
  }
  return out;
}

std::string without_host_memory(const PlanRequest& request) {
  const Platform& platform = request.scenario.platform;
  for (const int device : request.group.devices) {
    const Vm& vm = platform.vms[platform.devices[device].vm];
    if (!has_host_memory(vm.type)) return unknown_host_memory(vm);
  }
  return "";
}

// The reason why these replicas cannot exchange in this way; empty where they can.
std::string refusal(const PlanRequest& request, const std::vector<std::vector<int>>& replicas, const RoundPlan& how) {
  const char* name = request.options.technique->name;
  const std::string& of = name_in(replica_of_names(), request.options.get(kReplicaOf));
  if (request.group.devices.size() == 1) return fmt::format("{} needs at least two replicas; this is one GPU", name);
  if (replicas.size() < 2) return fmt::format("{} needs at least two replicas; here all GPUs are of one {}", name, of);
  for (const auto& replica : replicas) {
    if (replica.size() != replicas.front().size())
      return fmt::format("replicas of {} and of {} GPUs: {} needs the same number in each {}, or replica: gpu",
                         replicas.front().size(), replica.size(), name, of);
  }
  const int steps = request.options.get(kInnerSteps);
  if (how.fragments > layer_count(request.operators))
    return fmt::format("{} fragments of {} layers; choose at most one per layer", how.fragments,
                       layer_count(request.operators));
  if (steps < how.fragments)
    return fmt::format("{} inner steps are too few for {} fragments; choose at least one step per fragment", steps,
                       how.fragments);
  if (how.delay >= steps / how.fragments && how.delay > 0)
    return fmt::format(
        "an update {} inner steps late would come after the next fragment's: {} inner steps for {} fragments leave "
        "less than {}",
        how.delay, steps, how.fragments, steps / how.fragments);
  if (how.sum == SumBy::kNccl && !adds_up(how.format))
    return fmt::format("NCCL cannot add {}, whose numbers have scales; choose all_reduce: shares, or auto",
                       name_in(exchange_format_names(), how.format));
  return how.outer_on_host ? without_host_memory(request) : "";
}

}  // namespace

PlanResult plan_rounds(const PlanRequest& request, RoundPlan how) {
  const auto replicas = replicas_of(request);
  how.replica = request.options.get(kReplicaOf);
  how.gpus = static_cast<int>(replicas.front().size());
  how.bucket = request.options.get(kInnerBucket);
  how.sum = request.options.get(kSumBy);
  if (std::string why = refusal(request, replicas, how); !why.empty()) return {std::nullopt, std::move(why)};
  if (how.sum == SumBy::kAuto) how.sum = adds_up(how.format) ? SumBy::kNccl : SumBy::kShares;
  Group group = request.group;
  group.devices.clear();
  for (const auto& replica : replicas) group.devices.insert(group.devices.end(), replica.begin(), replica.end());
  PlanResult result = plan_replicas({request.scenario, request.model, request.operators, group, request.options});
  if (!result.plan) return result;
  result.plan->workload = {.steps = request.options.get(kInnerSteps), .exchange = Exchange::kParameters};
  result.plan->by = how;
  return result;
}

std::vector<int> with_usual(std::vector<int> values, int usual) {
  std::erase(values, usual);
  values.insert(values.begin(), 0);
  return values;
}

std::vector<Variation> round_variations() {
  const auto steps = Variation{
      .values =
          [](const VariationRequest& r) { return with_usual(r.scenario.plan.inner_steps, r.base.get(kInnerSteps)); },
      .apply =
          [](TechniqueOptions& o, int value, const Scenario&, int) {
            if (value > 0) o.set(kInnerSteps, value);
          },
      .words = [](const TechniqueOptions& o, int) { return fmt::format("{} inner steps", o.get(kInnerSteps)); }};
  // 1: a VM is a replica, where the scenario's replicas are GPUs.
  const auto replica = Variation{
      .values =
          [](const VariationRequest& r) {
            return yes_or_no(r.group.equal_vms && r.base.get(kReplicaOf) == ReplicaOf::kGpu);
          },
      .apply =
          [](TechniqueOptions& o, int value, const Scenario&, int) {
            if (value == 1) o.set(kReplicaOf, ReplicaOf::kVm);
          },
      .words = [](const TechniqueOptions& o, int) -> std::string {
        const ReplicaOf of = o.get(kReplicaOf);
        return of == ReplicaOf::kGpu ? "" : fmt::format("a replica per {}", of == ReplicaOf::kVm ? "VM" : "site");
      }};
  return {steps, replica, batch_variations().front()};
}

namespace {

// The number of steps between exchanges, and that it changes the training.
std::vector<std::string> round_remarks(const Plan& plan) {
  const int steps = plan.workload.steps;
  const std::string what =
      fmt::format("Exchanging once in {} optimizer step{} changes the training", steps, steps == 1 ? "" : "s");
  return {what +
          ": state the factor on steps to the same loss (steps_factor). Published: 8 replicas of 2.4 B parameters have "
          "1.2 % more loss after the same steps (arXiv 2503.09799); small studies found more"};
}

// For torchft, and the reasons why there are no others.
TechniqueExports round_exports(const ExportRequest& request) {
  const char* name = request.plan.technique->name;
  TechniqueExports out;
  out.deepspeed.cannot = fmt::format("{} exchanges once in several steps; DeepSpeed does at every step", name);
  out.megatron.cannot = fmt::format("{} exchanges once in several steps; Megatron-LM does at every step", name);
  out.alpa.cannot = not_alpas(*request.plan.technique);
  return out;
}

}  // namespace

Technique technique_of_rounds(const char* name, const char* summary, const FigureStyle& style,
                              PlanResult (*plan)(const PlanRequest&), const std::vector<const OptionSpec*>& own) {
  Technique out = {
      .name = name,
      .summary = summary,
      .style = style,
      .divides_batch = true,
      .trains_adapters = true,
      .is_ring = true,
      .after_failure = AfterFailure::kGoOn,
      .options = {&kInnerSteps, &kReplicaOf, &kSumBy, &kInnerBucket, &kBatchSplit},
      .micro_batches = all_at_once,
      .plan = plan,
      .lower = lower_round,
      .memory = memory_of_rounds,
      .stored = stored_by_rounds,
      .launcher = launched_by_processes,
      .remarks = round_remarks,
      .changes_training = [](const TechniqueOptions&) { return true; },
      .variations = round_variations,
      .exports = round_exports,
  };
  out.options.insert(out.options.begin() + 2, own.begin(), own.end());
  return out;
}

}  // namespace slmsim
