// Memory of GPUs, against the formulas of the papers that sim/technique/common/memory.h names.
#include "sim/technique/common/memory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/technique/common/pipeline_commands.h"
#include "sim/compute/operator_graph.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::memory_test {
namespace {

constexpr double kParameters = 8352;  // of small_model(2)

struct World {
  Scenario scenario;
  Transformer model;
  OperatorGraph operators;

  World(int vms, int gpus, int batch, int layers = 2)
      : scenario(small_scenario(vms, gpus)), model(small_model(layers)), operators(build_operator_graph(model)) {
    scenario.training.batch = batch;
  }
  std::vector<DeviceMemory> memory(const Technique* technique, int micro_batches) const {
    return memory_of(plan_of(scenario, model, operators, with(technique, micro_batches)), operators, scenario);
  }
};

double state(const DeviceMemory& m) { return (m.parameters + m.gradients + m.optimizer).value; }

TEST(Memory, DataHoldsSixteenBytesPerParameter) {
  const auto memory = World(1, 4, 4).memory(named("Data"), 1);
  ASSERT_EQ(memory.size(), 4u);
  for (const auto& m : memory) {
    EXPECT_EQ(m.parameters.value, 2 * kParameters);
    EXPECT_EQ(m.gradients.value, 2 * kParameters);
    EXPECT_EQ(m.optimizer.value, 12 * kParameters);  // fp32 master 4, two moments of 4
    EXPECT_EQ(state(m), 16 * kParameters);
  }
}

TEST(Memory, Fp32TrainingHoldsSixteenBytesToo) {
  World world(1, 4, 4);
  world.scenario.training.precision = world.scenario.training.gradient_precision = Precision::kFp32;
  // 4 + 4 + 8, without a second copy of the weights.
  EXPECT_EQ(state(world.memory(named("Data"), 1)[0]), 16 * kParameters);
}

TEST(Memory, Zero2HoldsTwoAndFourteenOverNBytesPerParameter) {
  for (const int n : {1, 2, 4, 8}) {
    const auto memory = World(1, n, n).memory(named("ZeRO2"), 1);
    for (const auto& m : memory) EXPECT_NEAR(state(m), (2 + 14.0 / n) * kParameters, 1e-6);
  }
}

TEST(Memory, TensorDivisionDividesAllButTheNormsParameters) {
  // Two GPUs, one sequence. Norms hold 2 h = 32 parameters each, 2 L + 1 = 5 of them: 160 on both GPUs.
  const auto memory = World(1, 2, 1).memory(named("Shard"), 1);
  for (const auto& m : memory) EXPECT_EQ(m.parameters.value, 2 * ((kParameters - 160) / 2 + 160));
}

// Korthikanti et al., eq. 2, and what lies outside the layers: the embedding's dropout mask S h, the final
// norm's and the head's input 2 S h each, and the loss 10 S V; all times the sequences b.
double activations_by_formula(double layers, double b) {
  const double S = 10, h = 16, a = 2, V = 100;
  return layers * S * h * b * (34 + 5 * a * S / h) + 5 * S * h * b + 10 * S * V * b;
}

TEST(Memory, ActivationsFollowTheFormulaOfKorthikanti) {
  // 2 layers: 2 x 160 x (34 + 6.25) = 12880 B, 800 B and 10000 B.
  EXPECT_EQ(activations_by_formula(2, 1), 23680);
  EXPECT_NEAR(World(1, 1, 1).memory(named("Data"), 1)[0].activations.value, 23680, 1e-6);
  EXPECT_NEAR(World(1, 1, 3, 5).memory(named("Data"), 1)[0].activations.value, activations_by_formula(5, 3), 1e-6);
}

TEST(Memory, AGpuHoldsTheActivationsOfItsShareOfAMicroBatch) {
  // 8 sequences in 2 micro-batches over 4 GPUs: one sequence each at a time.
  for (const auto& m : World(1, 4, 8).memory(named("Data"), 2)) EXPECT_NEAR(m.activations.value, 23680, 1e-6);
}

TEST(Memory, AStageHoldsTheActivationsOfTheMicroBatchesInFlight) {
  // chain: 100 elements of 2 B per layer and sequence. 4 stages: 4, 3, 2 and 1 in flight; GPipe: all 6.
  Scenario scenario = small_scenario(1, 4);
  scenario.training.batch = 6;
  const OperatorGraph operators = chain(4);
  const auto one = memory_of(pipeline(4, 6), operators, scenario);
  const auto gpipe = memory_of(pipeline(4, 6, Schedule::kGpipe), operators, scenario);
  for (int s = 0; s < 4; ++s) {
    EXPECT_EQ(one[s].device, s);
    EXPECT_EQ(one[s].activations.value, 200 * (4 - s));
    EXPECT_EQ(gpipe[s].activations.value, 1200);
  }
  // Fewer micro-batches than stages: no more in flight than there are.
  scenario.training.batch = 2;
  EXPECT_EQ(memory_of(pipeline(4, 2), operators, scenario)[0].activations.value, 400);
}

// 8 layers as 2 chunks on each of 4 stages, one sequence in a micro-batch: each forward pass of a chunk keeps a layer's
// S h (34 + 5 a S / h) = 6440 B until its backward pass, in the schedule's order. The first stage has the embedding's mask beside.
TEST(Memory, AStageWithChunksHoldsTheLayersWhoseBackwardPassIsToCome) {
  const int stages = 4, chunks = 2, micro_batches = 8;
  Scenario scenario = small_scenario(1, stages);
  scenario.training.batch = micro_batches;
  const Transformer model = small_model(stages * chunks);
  const OperatorGraph operators = build_operator_graph(model);
  const auto memory =
      memory_of(plan_of(scenario, model, operators, written("{Megatron: {pipeline: 4, chunks: 2, micro_batches: 8}}")),
                operators, scenario);
  for (int s = 0; s < stages - 1; ++s) {
    int held = 0, most = 0;
    for (const Step& step : interleaved_steps(s, stages, chunks, micro_batches))
      most = std::max(most, held += step.forward ? 1 : -1);
    EXPECT_NEAR(memory[s].activations.value, 6440.0 * most + (s == 0 ? 160 : 0), 1e-6) << s;
  }
}

TEST(Memory, RematerialisationKeepsLayerInputsAndOneLayerBesideEmbeddingAndHead) {
  // Kept: the input of 2 layers, 2 S h = 320 B each, the embedding's dropout mask of S h = 160 B and the head's 10000 +
  // 4 S h = 10640 B as they are; and one layer at a time: S h (34 + 5 a S / h) = 160 x 34 + 5 x 2 x 100 = 6440 B.
  World world(1, 1, 1);
  const double full = world.memory(named("Data"), 1)[0].activations.value;
  world.scenario.training.rematerialisation = true;
  const double again = world.memory(named("Data"), 1)[0].activations.value;
  EXPECT_NEAR(again, 2 * 320 + 160 + 10640 + 6440, 1e-6);
  EXPECT_LT(again, full);
}

TEST(Memory, RematerialisationSavesInEveryTechniqueOnADeepModel) {
  for (const auto technique : {named("Data"), named("ZeRO2"), named("Shard"), named("Pipeshard")}) {
    World world(1, 2, 4, 12);
    const auto full = world.memory(technique, 2);
    world.scenario.training.rematerialisation = true;
    const auto again = world.memory(technique, 2);
    for (std::size_t i = 0; i < full.size(); ++i) EXPECT_LT(again[i].activations, full[i].activations);
  }
}

TEST(Memory, ATiedHeadOnAnotherStageHoldsItsOwnCopyOfTheEmbedding) {
  // 2 layers on 2 stages: each holds a layer of 12 h^2 + 13 h = 3280. The first also (V + S) h = 1760, the
  // last the final norm 32 and the head V h = 1600.
  const auto memory = World(1, 2, 2).memory(named("Pipeshard"), 2);
  EXPECT_EQ(memory[0].parameters.value, 2 * (3280 + 1760));
  EXPECT_EQ(memory[1].parameters.value, 2 * (3280 + 32 + 1600));
}

TEST(Memory, BuffersAreNcclsAndTheFusedGradients) {
  World world(1, 4, 4);
  world.scenario.nccl.buffer = Bytes{1000};
  world.scenario.nccl.min_channels = 3;
  // 3 channels with 2 buffers of 1000 B, and all gradients at 2 B.
  EXPECT_EQ(world.memory(named("Data"), 1)[0].buffers.value, 6000 + 2 * kParameters);
}

// Of 1000 bytes the framework may take 985, and above 900 a caching allocator frees and retries; a pool has no edge. What a
// stream holds is freed before the allocator gives up.
TEST(Memory, IsAtTheEdgeAboveNineTenths) {
  Scenario scenario = small_scenario(1, 1);
  scenario.platform.devices[0].gpu.memory = Bytes{1000};
  scenario.memory.usable_share = scenario.software.usable_memory;
  scenario.memory.framework = {};
  DeviceMemory m = empty_memory(0, scenario);
  const auto words = [&](double activations, double held = 0) {
    m.activations = Bytes{activations};
    m.buffers = m.held = Bytes{held};
    return std::string(!m.fits() ? "does not fit" : m.at_edge() ? "at the edge" : "fits");
  };
  EXPECT_EQ(words(899), "fits");
  EXPECT_EQ(words(901), "at the edge");
  EXPECT_EQ(words(984), "at the edge");
  EXPECT_EQ(words(986), "does not fit");
  EXPECT_EQ(words(984, 100), "at the edge");
  EXPECT_EQ(m.allocated().value, 984);
  EXPECT_EQ(m.reserved().value, 1084);
  scenario.software.caching_allocator = false;
  scenario.memory.usable_share = 0.9;
  m = empty_memory(0, scenario);
  EXPECT_EQ(words(899), "fits");
  EXPECT_EQ(words(901), "does not fit");
}

TEST(Memory, APlanFitsUpToItsLimit) {
  World world(1, 1, 1);
  const Bytes needed = world.memory(named("Data"), 1)[0].total();
  world.scenario.memory.usable_share = 0.5;
  auto& gpu = world.scenario.platform.devices[0].gpu;
  gpu.memory = needed * 2;
  EXPECT_TRUE(world.memory(named("Data"), 1)[0].fits());
  gpu.memory = needed * 2 - Bytes{4};
  EXPECT_FALSE(world.memory(named("Data"), 1)[0].fits());
  EXPECT_EQ(world.memory(named("Data"), 1)[0].limit, needed - Bytes{2});
}

}  // namespace
}  // namespace slmsim::memory_test
