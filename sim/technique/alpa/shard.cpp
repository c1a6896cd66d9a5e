// Shard: Alpa's intra-operator parallelism over all GPUs of the group as one mesh.
//
// Planner kAlpa takes them as one flat axis (ShardParallel flattens 2 hosts x 2 GPUs to 4 x 1), so its choice ignores
// the network between the GPUs. Planner kSlmsim also tries VMs x GPUs, keeps within the GPUs' memory, and takes the
// faster one.
#include <algorithm>

#include <fmt/format.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/planned.h"
#include "sim/technique/alpa/planner/stage_plan.h"

namespace slmsim {
namespace {

// GPUs per VM if the group lists its devices VM by VM with equal numbers; else 1.
int gpus_per_vm(const Platform& platform, const std::vector<int>& devices) {
  const auto vm = [&](std::size_t i) { return platform.devices[devices[i]].vm; };
  std::size_t wide = 1;
  while (wide < devices.size() && vm(wide) == vm(0)) ++wide;
  if (devices.size() % wide != 0) return 1;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool starts = i % wide == 0;
    if (i > 0 && starts == (vm(i) == vm(i - 1))) return 1;
  }
  return static_cast<int>(wide);
}

// Columns of the meshes to try.
std::vector<int> meshes_to_try(const PlanRequest& request) {
  const auto& devices = request.group.devices;
  if (!request.options.get(kMesh).empty())
    return {request.options.get(kMesh).size() == 2 ? request.options.get(kMesh)[1] : 1};
  if (request.options.get(kTensor) > 0) return {request.options.get(kTensor)};
  const int wide = gpus_per_vm(request.scenario.platform, devices);
  const bool two =
      request.options.get(kPlanner) == Planner::kSlmsim && wide > 1 && wide < static_cast<int>(devices.size());
  return two ? std::vector<int>{1, wide} : std::vector<int>{1};
}

struct Candidate {
  Plan plan;
  double cost = 0;
};

PlanResult plan_shard(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, tables] = request;
  if (std::string uneven = uneven_micro_batches(scenario.training, options.micro_batches()); !uneven.empty())
    return {std::nullopt, std::move(uneven)};
  int asked = 1;
  for (const int gpus : options.get(kMesh)) asked *= gpus;
  if (!options.get(kMesh).empty() && asked != static_cast<int>(group.devices.size())) {
    return {std::nullopt, fmt::format("the mesh has {} GPUs; the group has {}", asked, group.devices.size())};
  }
  if (options.get(kTensor) > 0 && group.devices.size() % static_cast<std::size_t>(options.get(kTensor)) != 0) {
    return {std::nullopt, fmt::format("{} GPUs do not divide into groups of {} for tensor parallelism",
                                      group.devices.size(), options.get(kTensor))};
  }
  std::optional<Network> network;
  if (options.get(kPlanner) == Planner::kSlmsim) network.emplace(scenario.platform);

  std::optional<Candidate> best;
  std::string reason;
  for (const int columns : meshes_to_try(request)) {
    StageRequest stage{
        request, network ? &*network : nullptr, 0, boost::num_vertices(operators), group.devices, columns,
        1,       options.get(kMemoryLimit)};
    Candidate candidate{begin_plan(request), 0};
    StageResult result = plan_stage(stage);
    if (result.stage) candidate.plan.stages = {*result.stage};
    if (result.stage && options.get(kPlanner) == Planner::kSlmsim && !options.get(kMemoryLimit) &&
        !fits(candidate.plan, operators, scenario)) {
      stage.memory_limit = memory_for_operators(scenario, group.devices);
      StageResult smaller = plan_stage(stage);
      // If nothing fits, the fastest plan is kept, whose memory shows the shortage.
      if (smaller.stage) result = std::move(smaller);
      candidate.plan.stages = {*result.stage};
    }
    if (!result.stage) {
      reason = std::move(result.reason);
      continue;
    }
    candidate.cost = result.cost;
    const bool better = !best || (fits(candidate.plan, operators, scenario) &&
                                  (!fits(best->plan, operators, scenario) || candidate.cost < best->cost));
    if (better) best = std::move(candidate);
  }
  if (!best) return {std::nullopt, reason};
  return {std::move(best->plan), ""};
}

// The mesh of the most columns: an operator divided as on the others is divided so on it too, along both axes.
PlanResult outline_shard(const PlanRequest& request) {
  Plan plan = begin_plan(request);
  const auto meshes = meshes_to_try(request);
  plan.by = OperatorPlan{};
  plan.stages = {{.last = boost::num_vertices(request.operators),
                  .mesh = request.group.devices,
                  .columns = *std::max_element(meshes.begin(), meshes.end())}};
  if (plan.stages.front().mesh.size() % static_cast<std::size_t>(plan.stages.front().columns) != 0) return {};
  return {std::move(plan), ""};
}

std::vector<Variation> shard_variations() { return {planner_variation(), tensor_variation()}; }

TechniqueExports exports_of_shard(const ExportRequest& request) {
  const MeshShape shape = request.plan.stages.front().shape();
  TechniqueExports out;
  out.deepspeed.cannot = not_deepspeeds(*request.plan.technique);
  out.megatron = planned_for_megatron(request);
  out.alpa.method = fmt::format(
      "alpa.ShardParallel(\n"
      "    devices=alpa.get_global_physical_mesh(create_if_not_exist=True).get_logical_mesh(({}, {})),\n"
      "    num_micro_batches={}{})",
      shape[0], shape[1], request.plan.micro_batches,
      request.setup.options.get(kTensor) > 0
          ? ",\n    auto_sharding_option=alpa.AutoShardingOption(force_batch_dim_to_mesh_dim=0)"
          : "");
  out.alpa.notes = notes_on_planner(request);
  return out;
}

}  // namespace

extern const Technique kShard = {
    .name = "Shard",
    .summary = "Alpa's intra-operator parallelism: operators divided over all GPUs",
    .usual = true,
    .trial = Trial::kOperators,
    .style = {"#009e73", "#007a58", "^", "-.", "..."},
    .is_ring = true,
    .options = {&kPlanner, &kTensor, &kMesh, &kMemoryLimit},
    .micro_batches = one_sequence,
    .plan = plan_shard,
    .outline = outline_shard,
    .lower = lower_operators,
    .memory = memory_by_operators,
    .launcher = launched_by_driver,
    .remarks = remarks_on_division,
    .variations = shard_variations,
    .exports = exports_of_shard,
};

}  // namespace slmsim
