// Memory of replicas that exchange once per round, against the sums of sim/technique/rounds/round_memory.h.
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/rounds/rounds.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::round_memory_test {
namespace {

constexpr double kParameters = 8352;  // of small_model(2)

struct World {
  Scenario scenario = small_scenario(2, 2);
  Transformer model = small_model(2);
  OperatorGraph operators = build_operator_graph(model);

  World() { scenario.training.batch = 4; }
  DeviceMemory memory(const std::string& techniques) const {
    return memory_of(plan_of(scenario, model, operators, written(techniques)), operators, scenario).front();
  }
};

TEST(RoundMemory, OfAveragesIsThatOfAReplica) {
  const DeviceMemory m = World().memory("{LocalSGD: {inner_steps: 4}}");
  // fp16: weights 2, gradients 2; master 4, moments 8 and the fp32 gradients of the step 4.
  EXPECT_EQ(m.parameters.value, 2 * kParameters);
  EXPECT_EQ(m.gradients.value, 2 * kParameters);
  EXPECT_EQ(m.optimizer.value, 16 * kParameters);
}

TEST(RoundMemory, HasTwoCopiesMoreInDiloco) {
  const World world;
  const DeviceMemory plain = world.memory("{LocalSGD: {inner_steps: 4}}");
  EXPECT_EQ((world.memory("{DiLoCo: {inner_steps: 4}}").optimizer - plain.optimizer).value, 8 * kParameters);
  // GPUs of a replica share them.
  EXPECT_EQ((world.memory("{DiLoCo: {inner_steps: 4, replica: vm}}").optimizer - plain.optimizer).value,
            8 * kParameters / 2);
}

TEST(RoundMemory, HoldsTheExchangeBesideTheActivationsOnlyWithADelay) {
  const World world;
  const DeviceMemory now = world.memory("{StreamingDiLoCo: {inner_steps: 8, fragments: 1, delay: 0}}");
  const DeviceMemory late = world.memory("{StreamingDiLoCo: {inner_steps: 8, fragments: 1, delay: 2}}");
  ASSERT_GT(now.activations.value, 4 * kParameters / 10);
  const double exchange = 4 * kParameters;
  EXPECT_DOUBLE_EQ((late.buffers - now.buffers).value, exchange - std::max(0.0, exchange - now.activations.value));
  // The larger of two fragments: a layer and the embedding, 3280 + 1760 parameters.
  const DeviceMemory halves = world.memory("{StreamingDiLoCo: {inner_steps: 8, fragments: 2, delay: 2}}");
  EXPECT_DOUBLE_EQ((late.buffers - halves.buffers).value, exchange - 4 * 5040);
  // Encoded numbers lie beside the differences.
  const DeviceMemory encoded =
      world.memory("{StreamingDiLoCo: {inner_steps: 8, fragments: 1, delay: 2, format: bf16}}");
  EXPECT_DOUBLE_EQ((encoded.buffers - late.buffers).value, 2 * kParameters);
}

TEST(RoundMemory, MayLieInHostMemory) {
  World world;
  Plan plan = plan_of(world.scenario, world.model, world.operators, written("{DiLoCo: {inner_steps: 4}}"));
  const DeviceMemory on_gpu = memory_of(plan, world.operators, world.scenario).front();
  RoundPlan how = plan.round();
  how.outer_on_host = true;
  plan.by = how;
  const DeviceMemory on_host = memory_of(plan, world.operators, world.scenario).front();
  EXPECT_EQ((on_gpu.optimizer - on_host.optimizer).value, 8 * kParameters);
  // Outer parameters, momentum and the difference.
  EXPECT_EQ(stored_by_rounds(plan, world.operators, world.scenario).host.value, 12 * kParameters);
}

}  // namespace
}  // namespace slmsim::round_memory_test
