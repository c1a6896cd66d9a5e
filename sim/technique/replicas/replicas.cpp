#include "sim/technique/replicas/replicas.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/collective/communicator.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planner/speed.h"

namespace slmsim {
namespace {

const std::vector<std::string>& batch_split_names() {
  static const std::vector<std::string> kNames = {"even", "speed"};
  return kNames;
}

}  // namespace

const Option<BatchSplit> kBatchSplit{choice_option(
    {"batch_split",
     "Division of a micro-batch over replicas: even, or each sequence to the GPU that finishes it first."},
    batch_split_names)};
const Option<bool> kHierarchical{flag_option({"hierarchical",
                                              "Whether gradients are summed inside each VM, then between VMs by one "
                                              "GPU per part, then spread inside (ZeRO2: with "
                                              "all-reduce)."})};
const Option<int> kHierarchicalPieces{
    count_option({"hierarchical_pieces",
                  "Number of pieces of a hierarchical sum, pipelined through its three steps so that links inside and "
                  "between VMs are busy at once."},
                 1024, 1)};
const Option<bool> kNoSync{yes_option(
    {"no_sync", "Whether gradients are reduced once for all micro-batches of an iteration, not after each of them."})};

namespace {

// Relative tolerance for the times of GPUs with equal figures up to rounding, such as in other units.
constexpr double kRounding = 1e-9;

// Whole sequences, dealt as evenly as possible, or each to the GPU that would finish it first; ties by order.
std::vector<int> sequences_of_each(const PlanRequest& request, int sequences) {
  const auto& devices = request.group.devices;
  const int gpus = static_cast<int>(devices.size());
  std::vector<int> out;
  if (request.options.get(kBatchSplit) == BatchSplit::kEven) {
    for (int rank = 0; rank < gpus; ++rank) out.push_back(sequences / gpus + (rank < sequences % gpus ? 1 : 0));
    return out;
  }
  const std::vector<Gpu> different = different_gpus(request.scenario.platform, devices);
  std::vector<double> times, each;
  for (const Gpu& gpu : different) times.push_back(time_of_sequence(request.operators, gpu, request.scenario).value);
  for (const int device : devices) {
    const Gpu& gpu = request.scenario.platform.devices[device].gpu;
    each.push_back(times[std::find(different.begin(), different.end(), gpu) - different.begin()]);
  }
  out.assign(devices.size(), 1);
  for (int left = sequences - gpus; left > 0; --left) {
    std::size_t first = 0;
    for (std::size_t rank = 1; rank < out.size(); ++rank) {
      if ((out[rank] + 1) * each[rank] < (out[first] + 1) * each[first] * (1 - kRounding)) first = rank;
    }
    ++out[first];
  }
  return out;
}

}  // namespace

PlanResult plan_replicas(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, tables] = request;
  const int gpus = static_cast<int>(group.devices.size());
  const int batch = scenario.training.batch;
  if (std::string uneven = uneven_micro_batches(scenario.training, options.micro_batches()); !uneven.empty())
    return {std::nullopt, std::move(uneven)};
  const int sequences = batch / options.micro_batches();
  if (sequences < gpus) {
    return {std::nullopt, fmt::format("{} at a time {} some of {} GPUs without one; choose a batch of at least {}{}",
                                      sequences == 1 ? "1 sequence" : fmt::format("{} sequences", sequences),
                                      sequences == 1 ? "leaves" : "leave", gpus, gpus * options.micro_batches(),
                                      options.micro_batches() > 1 ? " or fewer micro-batches" : "")};
  }
  Stage stage;
  stage.last = boost::num_vertices(operators);
  stage.mesh = group.devices;
  stage.shardings.assign(stage.last, Sharding::kBatch);
  const bool hierarchical = options.get(kHierarchical);
  if (hierarchical && equal_vms(scenario.platform, group.devices).empty())
    return {std::nullopt,
            "summing gradients inside VMs first needs several VMs with the same number of GPUs, at least two"};
  const int pieces = options.get(kHierarchicalPieces);
  if (pieces > 1 && !hierarchical) return {std::nullopt, "hierarchical_pieces has no effect without hierarchical: yes"};
  for (const int own : sequences_of_each(request, sequences))
    stage.batch_shares.push_back(static_cast<double>(own) / sequences);
  Plan plan = begin_plan(request);
  plan.stages = {std::move(stage)};
  plan.by = OperatorPlan{.hierarchical = hierarchical, .pieces = pieces};
  return {std::move(plan), ""};
}

PlanResult plan_replicas(const PlanRequest& request, const ReplicaPlan& replicas) {
  if (replicas.optimizer != StatePlace::kGpu && request.scenario.training.optimizer != UpdateRule::kAdam)
    return {std::nullopt, "its optimizer on the CPU is Adam; set training.optimizer: adam"};
  const Platform& platform = request.scenario.platform;
  for (const int device : request.group.devices) {
    const Vm& vm = platform.vms[platform.devices[device].vm];
    if (replicas.optimizer != StatePlace::kGpu && !has_host_memory(vm.type))
      return {std::nullopt, unknown_host_memory(vm)};
    if (replicas.optimizer == StatePlace::kDrive && !volume_of(platform, device))
      return {std::nullopt, fmt::format("{} has no volume of drives", platform.devices[device].name)};
  }
  PlanResult result = plan_replicas(request);
  if (result.plan) result.plan->by = replicas;
  return result;
}

TechniqueExports replica_exports(const ExportRequest& request) {
  const Technique& technique = *request.plan.technique;
  const ReplicaPlan& how = request.plan.replicas();
  TechniqueExports out;
  out.deepspeed = {.stage = how.stage, .optimizer = how.optimizer, .parameters = how.parameters};
  out.megatron.cannot = fmt::format("{} is DeepSpeed's", technique.name);
  out.alpa.cannot = not_alpas(technique);
  return out;
}

Technique technique_of_replicas(const char* name, const char* summary, const FigureStyle& style,
                                PlanResult (*plan)(const PlanRequest&), Lowered (*lower)(const LowerRequest&)) {
  return {
      .name = name,
      .summary = summary,
      .style = style,
      .divides_batch = true,
      .trains_adapters = true,
      .micro_batches = all_at_once,
      .plan = plan,
      .lower = lower,
      .memory = memory_of_replicas,
      .stored = stored_by_replicas,
      .launcher = launched_by_processes,
      .exports = replica_exports,
  };
}

std::vector<Variation> split_variations() {
  return {{.values = [](const VariationRequest& r) { return yes_or_no(r.group.mixed); },
           .apply = [](TechniqueOptions& o, int value, const Scenario&,
                       int) { o.set(kBatchSplit, static_cast<BatchSplit>(value)); },
           .words = [](const TechniqueOptions&, int value) -> std::string {
             return value == 1 ? "sequences by speed" : "";
           }}};
}

std::vector<Variation> batch_variations() {
  const auto hierarchical = Variation{
      .values = [](const VariationRequest& r) { return yes_or_no(r.group.equal_vms); },
      .apply = [](TechniqueOptions& o, int value, const Scenario&, int) { o.set(kHierarchical, value == 1); },
      .words = [](const TechniqueOptions&, int value) -> std::string { return value == 1 ? "inside VMs first" : ""; }};
  return {split_variations().front(), hierarchical};
}

}  // namespace slmsim
