// Pipelines that planner slmsim cuts: by speed, memory and distance; and they fit into memory wherever a cut does, against all cuts
// and both orders of two GPUs.
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::stage_choice_test {
namespace {

// Whether some cut between layers fits, in either order.
bool some_cut_fits(Plan plan, const OperatorGraph& operators, const Scenario& scenario) {
  const std::size_t count = boost::num_vertices(operators);
  for (std::size_t cut = 1; cut < count; ++cut) {
    if (operators[cut].layer == operators[cut - 1].layer || operators[cut].layer < 1) continue;
    if (operators[cut].layer >= layer_count(operators)) continue;
    for (const int first : {0, 1}) {
      plan.stages = {batch_stage(0, cut, {first}), batch_stage(cut, count, {1 - first})};
      if (fits(plan, operators, scenario)) return true;
    }
  }
  return false;
}

TEST(StageMemory, FitsWhereSomeCutDoes) {
  int fitting = 0, not_fitting = 0;
  const Transformer model = small_model(8, false);
  const OperatorGraph operators = build_operator_graph(model);
  for (const bool recompute : {false, true}) {
    for (const char* schedule : {"1f1b", "gpipe"}) {
      for (double memory = 150e3; memory < 500e3; memory += 6e3) {
        Scenario scenario = small_scenario(2, 1);
        scenario.training.batch = 8;
        scenario.training.rematerialisation = recompute;
        scenario.nccl.buffer = Bytes{1000};
        scenario.platform.devices[0].gpu.memory = Bytes{memory};
        scenario.platform.devices[1].gpu.memory = Bytes{1.5 * memory};
        const std::string technique =
            std::string("{Pipeshard: {planner: slmsim, stages: 2, micro_batches: 4, schedule: ") + schedule + "}}";
        const Plan plan = plan_of(scenario, model, operators, written(technique));
        const bool possible = some_cut_fits(plan, operators, scenario);
        EXPECT_EQ(fits(plan, operators, scenario), possible) << technique << " " << recompute << " " << memory;
        ++(possible ? fitting : not_fitting);
      }
    }
  }
  EXPECT_GT(fitting, 50);
  EXPECT_GT(not_fitting, 50);
}

// Operators of each stage that the planner makes, told by their layers.
std::vector<std::pair<int, int>> layers_of(const Plan& plan, const OperatorGraph& operators) {
  std::vector<std::pair<int, int>> layers;
  for (const auto& stage : plan.stages)
    layers.emplace_back(operators[stage.first].layer, operators[stage.last - 1].layer);
  return layers;
}

TEST(Pipeshard, GivesASlowVmFewerLayersAndASmallOneToo) {
  Scenario scenario = small_scenario(2, 1);
  scenario.nccl.buffer = Bytes{100};
  scenario.training.batch = 8;
  Transformer model = small_model(12);
  model.vocabulary = 1;
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(named("Pipeshard"), 8);
  options.set(kPlanner, Planner::kSlmsim);
  options.set(kStages, 2);
  const auto layers_on = [&](int device) {
    const Plan plan = plan_of(scenario, model, operators, options);
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const auto [first, last] = layers_of(plan, operators)[s];
      if (plan.stages[s].mesh.front() == device) return std::min(last, 11) - std::max(first, 0) + 1;
    }
    return 0;
  };
  EXPECT_EQ(layers_on(0), 6);
  Gpu& second = scenario.platform.devices[1].gpu;
  second.name = "slow";
  second.memory_bandwidth = BytesPerSecond{100};
  EXPECT_EQ(layers_on(1), 4);
  second.memory_bandwidth = BytesPerSecond{200};
  const double need = memory_of(plan_of(scenario, model, operators, options), operators, scenario)[1].total().value;
  second.memory = Bytes{0.6 * need};
  EXPECT_LT(layers_on(1), 6);
  EXPECT_GT(layers_on(1), 0);
}

TEST(Pipeshard, KeepsStagesApartThatAreFarApart) {
  // Four GPUs in two VMs, a second apart: no stage spans the VMs, and the activations cross once each way.
  Scenario scenario = small_scenario(2, 2, 1e6);
  scenario.nccl.buffer = Bytes{100};
  for (auto& link : scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{1};
  scenario.training.batch = 4;
  const Transformer model = small_model(4);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(named("Pipeshard"), 4);
  options.set(kPlanner, Planner::kSlmsim);
  const Plan plan = plan_of(scenario, model, operators, options);
  int crossings = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto vm = [&](int device) { return scenario.platform.devices[device].vm; };
    for (const int device : plan.stages[s].mesh) EXPECT_EQ(vm(device), vm(plan.stages[s].mesh.front()));
    crossings += s > 0 && vm(plan.stages[s].mesh.front()) != vm(plan.stages[s - 1].mesh.front());
  }
  EXPECT_EQ(crossings, 1);
}

}  // namespace
}  // namespace slmsim::stage_choice_test
