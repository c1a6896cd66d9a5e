// Shard: Alpa's intra-operator parallelism over all GPUs of the group as one mesh.
//
// Planner kAlpa takes them as one flat axis (ShardParallel flattens 2 hosts x 2 GPUs to 4 x 1), so its choice is
// blind to what lies between the GPUs. Planner kSlmsim also tries VMs x GPUs, keeps within the GPUs' memory,
// and takes what is faster.
#include <fmt/format.h>

#include "sim/plan/techniques/stage_plan.h"

namespace slmsim {
namespace {

// GPUs per VM where the group's devices come VM by VM with as many of each; else 1.
int gpus_per_vm(const Platform& platform, const std::vector<int>& devices) {
  const auto vm = [&](std::size_t i) { return platform.devices[static_cast<std::size_t>(devices[i])].vm; };
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
  if (!request.options.mesh.empty()) return {request.options.mesh.size() == 2 ? request.options.mesh[1] : 1};
  if (request.options.tensor > 0) return {request.options.tensor};
  const int wide = gpus_per_vm(request.scenario.platform, devices);
  const bool two = request.options.planner == Planner::kSlmsim && wide > 1 && wide < static_cast<int>(devices.size());
  return two ? std::vector<int>{1, wide} : std::vector<int>{1};
}

struct Candidate {
  Plan plan;
  double cost = 0;
};

}  // namespace

PlanResult plan_shard(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, memo] = request;
  const Training& training = scenario.training;
  if (training.batch % options.micro_batches != 0) {
    return {std::nullopt,
            fmt::format("a batch of {} does not divide into {} micro-batches", training.batch, options.micro_batches)};
  }
  int asked = 1;
  for (const int gpus : options.mesh) asked *= gpus;
  if (!options.mesh.empty() && asked != static_cast<int>(group.devices.size())) {
    return {std::nullopt, fmt::format("a mesh of {} GPUs is asked for; the group has {}", asked, group.devices.size())};
  }
  if (options.tensor > 0 && group.devices.size() % static_cast<std::size_t>(options.tensor) != 0) {
    return {std::nullopt, fmt::format("{} GPUs do not divide into groups of {} for tensor parallelism",
                                      group.devices.size(), options.tensor)};
  }
  std::optional<Network> network;
  if (options.planner == Planner::kSlmsim) network.emplace(scenario.platform);

  std::optional<Candidate> best;
  std::string reason;
  for (const int columns : meshes_to_try(request)) {
    StageRequest stage{
        request, network ? &*network : nullptr, 0, boost::num_vertices(operators), group.devices, columns,
        1,       options.memory_limit};
    Candidate candidate;
    candidate.plan.technique = options.technique;
    candidate.plan.micro_batches = options.micro_batches;
    StageResult result = plan_stage(stage);
    if (result.stage) candidate.plan.stages = {*result.stage};
    if (result.stage && options.planner == Planner::kSlmsim && !options.memory_limit &&
        !fits(candidate.plan, operators, scenario)) {
      stage.memory_limit = memory_for_operators(scenario, group.devices);
      StageResult smaller = plan_stage(stage);
      // Where nothing fits, the fastest plan stands, and its memory tells what is missing.
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

}  // namespace slmsim
