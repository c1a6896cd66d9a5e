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
  // DDP on one GPU with its quarter of the batch.
  DeviceMemory alone() const {
    Scenario one = small_scenario(1, 1);
    one.training.batch = scenario.training.batch / 4;
    one.framework = scenario.framework;
    return memory_of(plan_of(one, model, operators, written("{DDP: {}}")), operators, one).front();
  }
};

TEST(RoundMemory, OfAveragesIsThatOfAReplica) {
  // fp16: weights 2, gradients 2; master 4, moments 8.
  World world;
  world.scenario.training.batch = 8;
  const DeviceMemory passes = world.memory("{LocalSGD: {inner_steps: 4, micro_batches: 2}}");
  EXPECT_EQ(passes.parameters.value, 2 * kParameters);
  EXPECT_EQ(passes.gradients.value, 2 * kParameters);
  EXPECT_EQ(passes.optimizer.value, 12 * kParameters);
  // A replica of one GPU trains as DDP does there, with the same sequences. Between its steps, the differences are there in fp32.
  for (const int copies : {0, 1, 2}) {
    world.scenario.framework.gradient_copies = copies;
    const DeviceMemory alone = world.alone();
    const DeviceMemory m = world.memory("{LocalSGD: {inner_steps: 4}}");
    const double between = (2 + 12 + 4) * kParameters + m.framework.value;
    EXPECT_DOUBLE_EQ((m.total() - m.nccl).value, std::max((alone.total() - alone.nccl).value, between)) << copies;
  }
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
  // With outer parameters and momentum, 8 bytes per parameter: beside the steps, or between two of them.
  const double exchange = 4 * kParameters;
  const DeviceMemory alone = world.alone();
  const double steps = (alone.total() - alone.nccl).value + 8 * kParameters;
  const double between = (2 + 12 + 8) * kParameters + alone.framework.value + exchange;
  EXPECT_DOUBLE_EQ((late.total() - late.nccl).value, steps + exchange);
  EXPECT_DOUBLE_EQ((now.total() - now.nccl).value, std::max(steps, between));
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
