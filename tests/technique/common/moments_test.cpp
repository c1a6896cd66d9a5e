// At which moment of an iteration a GPU holds most, and what it holds then, against sums by hand of what DeepSpeed 0.7.1
// (stage_1_and_2.py, stage3.py, fused_optimizer.py) and FullyShardedDataParallel hold.
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::moments_test {
namespace {

constexpr double kP = 8352;               // parameters of small_model(2)
constexpr double kKept = 23680;           // activations of a sequence (memory_test.cpp)
constexpr double kLayer = 6440;           // of one of its layers
constexpr double kBucket = 10;            // elements: next to nothing
constexpr double kStates = 2 + 12.0 / 4;  // bytes per parameter of weights and a quarter of the optimizer's state

// On four GPUs with `sequences` each; without NCCL's buffers and the framework.
DeviceMemory held(const char* technique, int sequences, double bucket = kBucket, int micro_batches = 1) {
  Scenario scenario = small_scenario(1, 4);
  scenario.training.batch = 4 * sequences * micro_batches;
  scenario.framework.reduce_bucket = scenario.framework.gather_bucket = bucket;
  scenario.framework.live_parameters = 0;
  scenario.nccl.buffer = Bytes{0};
  scenario.memory.framework = Bytes{0};
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  return memory_of(plan_of(scenario, model, operators, with(named(technique), micro_batches)), operators, scenario)[0];
}

TEST(Moments, OfZero1AreItsLogitsAndItsGradients) {
  // Few activations: all gradients of 2 B, and the bucket that is flattened from them.
  const DeviceMemory few = held("ZeRO-1", 1, kP);
  EXPECT_EQ(few.moment, Moment::kBackward);
  EXPECT_NEAR(few.total().value, (kStates + 2) * kP + 2 * kP, 1e-6);
  // Many: there is no gradient yet when they are most.
  const DeviceMemory many = held("ZeRO-1", 10);
  EXPECT_EQ(many.moment, Moment::kForward);
  EXPECT_EQ(many.gradients.value, 0);
  EXPECT_NEAR(many.total().value, kStates * kP + 10 * kKept, 1e-6);
  // But for those of another micro-batch.
  EXPECT_NEAR(held("ZeRO-1", 10, kBucket, 2).total().value, (kStates + 2) * kP + 10 * kKept, 1e-6);
}

TEST(Moments, OfZero2IncludeTheStepsCopies) {
  // For a quarter: gradients 2 B, flattened 2 B, converted 4 B; gone are the two buckets.
  Scenario scenario = small_scenario(1, 4);
  const DeviceMemory step = held("ZeRO-2", 1);
  const double passes = kStates * kP + 2.0 / 4 * kP + 2 * 2 * kBucket + kLayer;
  const double forward = kStates * kP + 2 * 2 * kBucket + kKept;
  EXPECT_NEAR(step.total().value, std::max({(kStates + 8.0 / 4) * kP, passes, forward}), 1e-6);
  EXPECT_EQ(held("ZeRO-2", 1, kP).moment, Moment::kForward);
}

TEST(Moments, OfAnUndividedOptimizerAreItsCopiesOfTheGradients) {
  // DDP: 2 + 2 + 12, buckets of 2 and a copy in fp32; or two copies, and no buckets.
  for (const int copies : {1, 2}) {
    Scenario scenario = small_scenario(1, 4);
    scenario.training.batch = 4;
    scenario.framework.gradient_copies = copies;
    scenario.nccl.buffer = scenario.memory.framework = Bytes{0};
    const Transformer model = small_model(2);
    const OperatorGraph operators = build_operator_graph(model);
    const auto ddp = memory_of(plan_of(scenario, model, operators, with(named("DDP"), 1)), operators, scenario)[0];
    EXPECT_NEAR(ddp.total().value, (copies == 1 ? 18 : 16) * kP + std::max(4 * copies * kP, kKept), 1e-6);
    EXPECT_EQ(ddp.moment, 4 * copies * kP > kKept ? Moment::kStep : Moment::kForward);
  }
}

// One GPU, `sequences` in each of the micro-batches, in fp32: weights, gradients and moments of 4, 4 and 8 bytes.
DeviceMemory alone(int sequences, int micro_batches) {
  Scenario scenario = small_scenario(1, 1);
  scenario.training.precision = scenario.training.gradient_precision = Precision::kFp32;
  scenario.training.batch = sequences * micro_batches;
  scenario.nccl.buffer = scenario.memory.framework = Bytes{0};
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  return memory_of(plan_of(scenario, model, operators, with(named("DDP"), micro_batches)), operators, scenario)[0];
}

TEST(Moments, OfPyTorchHoldNoGradientsBeforeTheBackwardPass) {
  const double parameters = parameter_count(build_operator_graph(small_model(2)));
  const DeviceMemory one = alone(10, 1);
  EXPECT_EQ(one.moment, Moment::kForward);
  EXPECT_EQ(one.gradients.value, 0);
  EXPECT_NEAR(one.total().value - one.activations.value, 12 * parameters, 1e-6);
  // But for those of earlier micro-batches.
  const DeviceMemory several = alone(10, 2);
  EXPECT_EQ(several.moment, Moment::kForward);
  EXPECT_NEAR(several.total().value - one.total().value, 4 * parameters, 1e-6);
}

TEST(Moments, OfPyTorchsStepHoldWhatItsAdamComputes) {
  // Roots of all second moments, or two tensors of the largest, by lists and tensor by tensor; activations are few.
  const auto step = [](const char* adam) {
    Scenario scenario = small_scenario(1, 1);
    scenario.training.precision = scenario.training.gradient_precision = Precision::kFp32;
    scenario.training.batch = 1;
    scenario.software.adam_kernel = adam;
    scenario.nccl.buffer = scenario.memory.framework = Bytes{0};
    Transformer model = small_model(1);
    model.sequence = 1;
    model.vocabulary = 100'000;
    const OperatorGraph operators = build_operator_graph(model);
    return std::pair{memory_of(plan_of(scenario, model, operators, with(named("DDP"), 1)), operators, scenario)[0],
                     trained_count(operators)};
  };
  const auto [foreach, trained] = step("adam_foreach");
  EXPECT_EQ(foreach.moment, Moment::kStep);
  EXPECT_NEAR(foreach.total().value, (16 + 4) * trained, 1e-6);
  const auto [single, same] = step("adam_single");
  EXPECT_EQ(single.moment, Moment::kStep);
  EXPECT_NEAR(single.total().value, 16 * same + 2 * 4 * 100'000.0 * 16, 1e-6);
}

// Layers that are recomputed do not keep autocast's 16-bit weights, which its cache frees when the forward pass ends; then come 4
// bytes of gradient per logit in place of 2 of the logits. A layer of h = 16 has 12 h^2 + 9 h weights in products.
TEST(Moments, OfRecomputedLayersUnderAutocastLackTheirCopiesOrTheLogitsGradient) {
  const auto parameters = [](int layers, std::int64_t vocabulary, bool autocast) {
    Scenario scenario = small_scenario(1, 1);
    scenario.training.gradient_precision = Precision::kFp32;
    scenario.training.batch = 10;
    scenario.software.autocast = autocast;
    scenario.nccl.buffer = scenario.memory.framework = Bytes{0};
    Transformer model = small_model(layers);
    model.vocabulary = vocabulary;
    const OperatorGraph operators = build_operator_graph(model);
    Plan plan = plan_of(scenario, model, operators, with(named("DDP"), 1));
    plan.recompute = Recompute::kFull;
    const DeviceMemory memory = memory_of(plan, operators, scenario)[0];
    EXPECT_EQ(memory.moment, Moment::kForward);
    return memory.parameters.value;
  };
  // 10 sequences of 10 tokens.
  constexpr double kCopy = 2 * (12 * 16 * 16 + 9 * 16), kLogits = 10.0 * 10;
  EXPECT_NEAR(parameters(7, 200, false) - parameters(7, 200, true), std::min(7 * kCopy, 2 * 200 * kLogits), 1e-6);
  EXPECT_NEAR(parameters(2, 1000, false) - parameters(2, 1000, true), std::min(2 * kCopy, 2 * 1000 * kLogits), 1e-6);
  EXPECT_GT(7 * kCopy, 2 * 200 * kLogits);
}

// FLOPs of a layer's backward pass with what it computes anew.
double anew(bool dropout, bool early) {
  Scenario scenario = small_scenario(1, 1);
  scenario.software.recompute_stops_early = early;
  Transformer model = small_model(2);
  model.dropout = dropout;
  TensorDivision division;
  division.recompute = Recompute::kFull;
  return layer_work(build_operator_graph(model), division, 3, scenario.platform.devices[0].gpu, scenario)[1]
      .backward_work.value;
}

// 3 ms for each of two layers, on a host that is twice as slow; none for the embedding and the head.
TEST(Recomputation, TakesTheHostLongerForEachLayer) {
  Scenario scenario = small_scenario(1, 1);
  scenario.platform.devices[0].gpu.host = 2;
  const auto host = [&](Recompute recompute) {
    TensorDivision division;
    division.recompute = recompute;
    std::vector<double> out;
    for (const LayerWork& work :
         layer_work(build_operator_graph(small_model(2)), division, 1, scenario.platform.devices[0].gpu, scenario))
      out.push_back(work.host_backward.value);
    return out;
  };
  scenario.software.host_checkpoint = {};
  const std::vector<double> none = host(Recompute::kNone), before = host(Recompute::kFull);
  scenario.software.host_checkpoint = Seconds{3e-3};
  EXPECT_EQ(host(Recompute::kNone), none);
  const std::vector<double> after = host(Recompute::kFull);
  ASSERT_EQ(after.size(), 4U);
  for (std::size_t unit = 0; unit < after.size(); ++unit)
    EXPECT_NEAR(after[unit] - before[unit], unit == 1 || unit == 2 ? 6e-3 : 0.0, 1e-12) << unit;
}

TEST(Recomputation, ThatStopsEarlyLeavesOutALayersLastProduct) {
  // 2 S h 4h of each sequence: S = 10, h = 16.
  EXPECT_NEAR(anew(false, false) - anew(false, true), 3.0 * 2 * 10 * 16 * 64, 1e-6);
  // The mask of a dropout at the end is needed.
  EXPECT_EQ(anew(true, false), anew(true, true));
}

}  // namespace
}  // namespace slmsim::moments_test
