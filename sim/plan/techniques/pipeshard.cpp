// Pipeshard: Alpa's inter-operator parallelism. Layers become stages on meshes of GPUs, and operators are divided inside
// a stage.
//
// By default as Alpa's uniform stages: one per VM (inside a single VM one per GPU), layers split evenly by their FLOPs, the
// embedding with the first stage and the head with the last. With `stages: auto`, or by planner kSlmsim, the inter-operator
// planner chooses both.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/plan/techniques/speed.h"
#include "sim/plan/techniques/stage_choice.h"
#include "sim/plan/techniques/stage_plan.h"

namespace slmsim {
namespace {

// One mesh per VM of the group, in the group's order; a group inside one VM is one mesh per GPU. With `stages` given, that many
// meshes of equal size in the group's order.
std::vector<std::vector<int>> meshes_of(const Platform& platform, const std::vector<int>& devices, int stages) {
  std::vector<std::vector<int>> meshes;
  if (stages > 0) {
    const std::size_t size = devices.size() / static_cast<std::size_t>(stages);
    for (std::size_t i = 0; i < devices.size(); i += size)
      meshes.emplace_back(devices.begin() + static_cast<long>(i), devices.begin() + static_cast<long>(i + size));
    return meshes;
  }
  std::map<int, std::size_t> mesh_of_vm;
  for (const int device : devices) {
    const int vm = platform.devices[static_cast<std::size_t>(device)].vm;
    const auto [at, is_new] = mesh_of_vm.try_emplace(vm, meshes.size());
    if (is_new) meshes.emplace_back();
    meshes[at->second].push_back(device);
  }
  if (meshes.size() > 1) return meshes;
  meshes.clear();
  for (const int device : devices) meshes.push_back({device});
  return meshes;
}

// What each layer costs in each stage: FLOPs, or seconds on the slowest GPU of the stage's mesh, shared by all its GPUs. The
// embedding counts with the first layer and the head with the last.
std::vector<std::vector<double>> layer_costs(const PlanRequest& request, const std::vector<std::vector<int>>& meshes) {
  const auto& [scenario, model, operators, group, options, memo] = request;
  std::vector<std::vector<double>> costs;
  for (const auto& mesh : meshes) {
    costs.emplace_back(static_cast<std::size_t>(model.layers), 0.0);
    for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
      double cost = operators[v].matrix.flops();
      if (options.split == StageSplit::kSpeed) {
        Seconds slowest{0};
        for (const int device : mesh) {
          const Gpu& gpu = scenario.platform.devices[static_cast<std::size_t>(device)].gpu;
          slowest = std::max(slowest, time_of_sequence(operators[v], gpu, scenario));
        }
        cost = slowest.value / static_cast<double>(mesh.size());
      }
      costs.back()[static_cast<std::size_t>(std::clamp<std::int64_t>(operators[v].layer, 0, model.layers - 1))] += cost;
    }
  }
  return costs;
}

// First operator of each stage and, last, the number of operators: cuts after whole layers so that the most that a stage
// costs is as little as possible; dynamic programming over stages and layers.
std::vector<std::size_t> balanced_cuts(const OperatorGraph& operators, const std::vector<std::vector<double>>& costs) {
  const std::size_t count = boost::num_vertices(operators), stages = costs.size(), n = costs.front().size();
  std::vector<std::size_t> starts;  // first operator of each layer; the first layer's stage also takes the embedding
  for (std::size_t v = 0; v < count; ++v) {
    const auto layer =
        static_cast<std::size_t>(std::clamp<std::int64_t>(operators[v].layer, 0, static_cast<std::int64_t>(n) - 1));
    if (layer == starts.size()) starts.push_back(v);
  }
  // best[s][l]: smallest maximum when layers 0..l-1 make s stages.
  std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, 1e300));
  std::vector<std::vector<std::size_t>> cut(stages + 1, std::vector<std::size_t>(n + 1, 0));
  best[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    std::vector<double> before(n + 1, 0.0);
    for (std::size_t l = 0; l < n; ++l) before[l + 1] = before[l] + costs[s - 1][l];
    for (std::size_t l = s; l <= n; ++l) {
      for (std::size_t k = s - 1; k < l; ++k) {
        const double largest = std::max(best[s - 1][k], before[l] - before[k]);
        if (largest < best[s][l]) {
          best[s][l] = largest;
          cut[s][l] = k;
        }
      }
    }
  }
  std::vector<std::size_t> cuts = {count};
  for (std::size_t s = stages, l = n; s > 0; --s) {
    l = cut[s][l];
    cuts.push_back(l == 0 ? 0 : starts[l]);
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

struct Chosen {
  std::vector<ChosenStage> stages;
  std::string reason;  // where there are none
};

// Alpa's UniformStageOption: equal meshes, layers of equal FLOPs; or of equal time on unequal meshes.
Chosen uniform_stages(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, memo] = request;
  const auto meshes = meshes_of(scenario.platform, group.devices, options.stages);
  if (static_cast<std::int64_t>(meshes.size()) > model.layers) {
    return {{},
            fmt::format("{} stages need at least as many layers; {} has {}", meshes.size(), model.name, model.layers)};
  }
  if (meshes.size() < 2) return {{}, "a pipeline needs at least two GPUs"};
  const auto cuts = balanced_cuts(operators, layer_costs(request, meshes));
  Chosen chosen;
  for (std::size_t s = 0; s < meshes.size(); ++s) chosen.stages.push_back({cuts[s], cuts[s + 1], meshes[s]});
  return chosen;
}

// Where nothing fits, equal stages stand for what is missing.
Chosen chosen_stages(const PlanRequest& request, const Network& network) {
  Chosen chosen{choose_stages(request, network), ""};
  return chosen.stages.empty() ? uniform_stages(request) : chosen;
}

}  // namespace

PlanResult plan_pipeshard(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, memo] = request;
  const Training& training = scenario.training;
  if (training.batch % options.micro_batches != 0) {
    return {std::nullopt,
            fmt::format("a batch of {} does not divide into {} micro-batches", training.batch, options.micro_batches)};
  }
  if (options.stages > 0 && group.devices.size() % static_cast<std::size_t>(options.stages) != 0) {
    return {std::nullopt, fmt::format("{} GPUs do not divide into {} stages", group.devices.size(), options.stages)};
  }
  Plan plan;
  plan.technique = options.technique;
  plan.micro_batches = options.micro_batches;
  plan.schedule = options.schedule;
  std::optional<Network> network;
  if (options.planner == Planner::kSlmsim || options.choose_stages) network.emplace(scenario.platform);
  const Chosen chosen = options.planner == Planner::kSlmsim || options.choose_stages ? chosen_stages(request, *network)
                                                                                     : uniform_stages(request);
  if (chosen.stages.empty()) return {std::nullopt, chosen.reason};
  for (const auto& [first, last, mesh] : chosen.stages) {
    const std::size_t behind = chosen.stages.size() - plan.stages.size();
    const int in_flight = options.schedule == Schedule::kGpipe
                              ? options.micro_batches
                              : std::min(options.micro_batches, static_cast<int>(behind));
    std::optional<Bytes> limit;
    // Half a percent below, for what neighbouring stages send.
    if (options.planner == Planner::kSlmsim) limit = memory_for_operators(scenario, mesh) * 0.995;
    const int tensor = options.tensor > 0 ? options.tensor : 1;
    if (mesh.size() % static_cast<std::size_t>(tensor) != 0) {
      return {std::nullopt, fmt::format("a stage of {} GPUs does not divide into groups of {} for tensor parallelism",
                                        mesh.size(), tensor)};
    }
    StageRequest stage{request, network ? &*network : nullptr, first, last, mesh, tensor, in_flight, limit};
    StageResult result = plan_stage(stage);
    if (!result.stage) {  // the fastest one then tells what is missing
      stage.memory_limit.reset();
      result = plan_stage(stage);
    }
    plan.stages.push_back(std::move(*result.stage));
  }
  return {std::move(plan), ""};
}

}  // namespace slmsim
