// States in the elements of the training's precisions, whichever technique holds them.
#include <gmock/gmock.h>

#include "sim/base/name_in.h"
#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::precision_test {
namespace {

// With 2 layers: P = 2 x 3280 + 1792 = 8352.
constexpr double kParameters = 8352;

struct Case {
  const char* techniques;
  Precision precision, gradients;
  double weight, gradient, optimizer;  // bytes per parameter on each of two GPUs
};

TEST(StateBytes, HaveNoCopiesInFp32) {
  Training training;
  training.precision = training.gradient_precision = Precision::kFp32;
  const StateBytes full(training);
  EXPECT_EQ(full.weight, 4);
  EXPECT_EQ(full.gradient, 4);
  EXPECT_EQ(full.optimizer(), 8);  // two moments, and the weights are their own master
  EXPECT_EQ(full.gradient_copy, 0);
  training.precision = Precision::kBf16;
  const StateBytes mixed(training);
  EXPECT_EQ(mixed.weight, 2);
  EXPECT_EQ(mixed.optimizer(), 12);
  EXPECT_EQ(mixed.gradient_copy, 0);  // gradients are in fp32 already
  training.gradient_precision = Precision::kBf16;
  EXPECT_EQ(StateBytes(training).gradient_copy, 4);
}

TEST(StateBytes, FollowTheOptimizer) {
  Training training;
  for (const auto& [rule, state] : {std::pair{UpdateRule::kAdam, 8.0},
                                    {UpdateRule::kAdam8bit, 2 + 8 / 256.0},
                                    {UpdateRule::kMomentum, 4.0},
                                    {UpdateRule::kSgd, 0.0}}) {
    training.optimizer = rule;
    EXPECT_EQ(StateBytes(training).optimizer(), 4 + state);  // with the fp32 master of fp16 weights
  }
  training.optimizer = UpdateRule::kAdam16bit;  // weight, gradient and two moments of 2 bytes
  EXPECT_EQ(StateBytes(training).all(), 8);
  EXPECT_EQ(StateBytes(training).gradient_copy, 0);
}

TEST(Memory, FollowsTheOptimizerInEveryTechnique) {
  // States of two GPUs that hold everything, or half of it.
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  for (const char* technique : {"DDP", "ZeRO-1", "ZeRO-3", "FSDP", "{Megatron: {data: 2}}", "ZeRO2"}) {
    const auto held = [&](UpdateRule rule) {
      Scenario scenario = small_scenario(1, 2);
      scenario.training.batch = 2;
      scenario.training.optimizer = rule;
      const Plan plan = plan_of(scenario, model, operators, written(technique));
      return memory_of(plan, operators, scenario).front().optimizer.value;
    };
    const bool whole = std::string(technique) == "DDP" || technique[0] == '{';
    EXPECT_DOUBLE_EQ(held(UpdateRule::kAdam) - held(UpdateRule::kSgd), 8 * kParameters / (whole ? 1 : 2)) << technique;
    EXPECT_LT(held(UpdateRule::kAdam8bit), held(UpdateRule::kMomentum)) << technique;
  }
}

TEST(Memory, FollowsThePrecisionInEveryTechnique) {
  constexpr auto kHalf = Precision::kFp16, kFull = Precision::kFp32;
  // With two micro-batches gradients are there from the first on.
  const Case cases[] = {
      {"DDP", kHalf, kHalf, 2, 2, 12},
      {"{DDP: {micro_batches: 2}}", kFull, kFull, 4, 4, 8},
      {"{DDP: {micro_batches: 2}}", kHalf, kFull, 2, 4, 12},
      {"{ZeRO-1: {micro_batches: 2}}", kFull, kFull, 4, 4, 8 / 2.0},
      {"{ZeRO-2: {micro_batches: 2}}", kHalf, kHalf, 2, 2 / 2.0, 12 / 2.0},
      {"{ZeRO-2: {micro_batches: 2}}", kFull, kFull, 4, 4 / 2.0, 8 / 2.0},
      {"ZeRO-3", kFull, kFull, 4 / 2.0, 4 / 2.0, 8 / 2.0},
      {"{Megatron: {data: 2}}", kHalf, kHalf, 2, 2, 12},
      {"{Megatron: {data: 2}}", kFull, kFull, 4, 4, 8},
      {"{Megatron: {data: 2}}", kHalf, kFull, 2, 4, 12},
      {"{Megatron: {data: 2}}", Precision::kBf16, Precision::kBf16, 2, 4, 12},  // 18 bytes
      {"{Megatron: {data: 2, distributed_optimizer: yes}}", kHalf, kHalf, 2, 2, 12 / 2.0},
      {"{Megatron: {data: 2, distributed_optimizer: yes}}", kHalf, kFull, 2, 4, 12 / 2.0},
  };
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  for (const Case& one : cases) {
    Scenario scenario = small_scenario(1, 2);
    scenario.training.batch = 4;
    scenario.training.precision = one.precision;
    scenario.training.gradient_precision = one.gradients;
    const Plan plan = plan_of(scenario, model, operators, written(one.techniques));
    const DeviceMemory memory = memory_of(plan, operators, scenario).front();
    SCOPED_TRACE(std::string(one.techniques) + " " + name_in(precision_names(), one.precision) + " " +
                 name_in(precision_names(), one.gradients));
    EXPECT_DOUBLE_EQ(memory.parameters.value, one.weight * kParameters);
    EXPECT_DOUBLE_EQ(memory.gradients.value, one.gradient * kParameters);
    EXPECT_DOUBLE_EQ(memory.optimizer.value, one.optimizer * kParameters);
    // Replicas of Megatron-LM reduce gradients where they lie; those of half precision are copied in fp32 for the step.
    if (std::string(one.techniques).find("Megatron") != std::string::npos) {
      const double copies = memory.moment == Moment::kStep ? 4 * kParameters / (one.optimizer < 8 ? 2 : 1) : 0;
      EXPECT_NEAR(memory.buffers.value,
                  nccl_buffers(scenario.nccl, nccl_view(scenario.platform, {{0, 1}})).value + copies, 1e-2);
      EXPECT_TRUE(copies == 0 || one.gradient == 2);
    }
  }
}

}  // namespace
}  // namespace slmsim::precision_test
