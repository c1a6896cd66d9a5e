// Pipelines that planner slmsim cuts fit into memory wherever a cut does, against all cuts and both orders of two GPUs.
#include <gtest/gtest.h>

#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::stage_memory_test {
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

}  // namespace
}  // namespace slmsim::stage_memory_test
