// Replicas that train adapters only: what they compute, exchange and hold.
#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::lora_test {
namespace {

using testing::HasSubstr;

// h = 16, s = 10, 2 layers; rank 2 of queries and values: 2 layers x 2 x 2 x 32 = 256 parameters are trained of 8352 + 256.
constexpr double kOwn = 8352, kAdapters = 256;

struct World {
  Scenario scenario;
  Transformer model = small_model(2);
  OperatorGraph plain = build_operator_graph(model), adapted;

  explicit World(int vms, int gpus, double rate = 1e15) : scenario(small_scenario(vms, gpus, rate)) {
    scenario.training.batch = vms * gpus;
    scenario.training.epochs = 1;
    scenario.training.blocks_per_epoch = 1e4;
    model.lora = Lora{2, {LoraTarget::kQuery, LoraTarget::kValue}};
    adapted = build_operator_graph(model);
  }
  TaskGraph graph(const std::string& techniques) const {
    return lowered(plan_of(scenario, model, adapted, written(techniques)), adapted, scenario);
  }
  DeviceMemory memory(const std::string& techniques, bool adapters = true) const {
    Transformer whole = model;
    whole.lora.reset();
    const OperatorGraph& operators = adapters ? adapted : plain;
    return memory_of(plan_of(scenario, adapters ? model : whole, operators, written(techniques)), operators, scenario)
        .front();
  }
};

TEST(Adapters, AreAllThatIsExchanged) {
  const World world(2, 2);
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {}}"), ""), 6 * 2 * kAdapters, 1e-6);  // a ring of four, fp16
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {compress: int8}}"), ""), 6 * kAdapters * (1 + 4.0 / 2048),
              12);  // 24 messages, rounded to bytes
  EXPECT_NEAR(bytes_over(world.graph("{LocalSGD: {inner_steps: 3}}"), ""), 6 * 4 * kAdapters, 1e-6);
  EXPECT_NEAR(bytes_over(world.graph("{ZeRO-1: {}}"), "all-gather"), 3 * 2 * kAdapters, 1e-6);
}

// Where parameters are divided, frozen ones are gathered with the others: all going forward, the layers' once more going
// backward, 3 B in all for B bytes of four GPUs. The embedding, in front of all adapters, is not.
TEST(Adapters, AreAllThatIsReducedOfWhatIsGathered) {
  const World world(2, 2);
  constexpr double kOutside = 1792, kLayers = kOwn - kOutside + kAdapters;
  // ZeRO-3 keeps so small a model between its passes.
  for (const auto& [technique, passes] : {std::pair{"{FSDP: {}}", 2}, {"{ZeRO-3: {}}", 1}}) {
    const TaskGraph graph = world.graph(technique);
    EXPECT_NEAR(bytes_over(graph, "all-gather"), 3 * 2 * (kOutside + passes * kLayers), 1e-6) << technique;
    EXPECT_NEAR(bytes_over(graph, "reduce-scatter"), 3 * 2 * kAdapters, 1e-6) << technique;
  }
}

TEST(Adapters, AreAllThatIsUpdated) {
  // Adam in mixed precision: gradient 2, master 4 and moments 8 are read, these and the weight of 2 written.
  const TaskGraph graph = World(2, 1).graph("{DDP: {}}");
  for (const Task& task : graph.tasks()) {
    if (graph.tag_of(task).name == "adam") {
      EXPECT_DOUBLE_EQ(task.amount, 28 * kAdapters / 200);
    }
  }
}

TEST(Adapters, SpareTheGradientsOfFrozenWeights) {
  // Products cost 2 m n k each way: forward as without, and A and B; backward the gradients of inputs, and of A and B those of
  // weights. The first layer's QKV and what is in front of it has none.
  const World world(1, 1);
  const auto work = [&](const OperatorGraph& operators) {
    return layer_work(operators, {}, 1, world.scenario.platform.devices.front().gpu, world.scenario);
  };
  const auto whole = work(world.plain), less = work(world.adapted);
  const double adapters = 2 * 2 * (2 * 10 * 16 * 2);                      // of a layer: A and B of two products
  const double qkv = 2 * 10 * 16 * 48, core = 2 * 2 * (2 * 10 * 10 * 8);  // the core of attention has no weights
  for (const std::size_t layer : {std::size_t{1}, std::size_t{2}}) {
    const double forward = whole[layer].forward_work.value;
    EXPECT_DOUBLE_EQ(less[layer].forward_work.value, forward + adapters);
    const double frozen = forward - core - (layer == 1 ? qkv : 0);
    EXPECT_DOUBLE_EQ(less[layer].backward_work.value, frozen + 2 * core + 2 * adapters);
    EXPECT_LT(less[layer].backward, whole[layer].backward);
  }
  EXPECT_EQ(less.front().backward.value, 0);  // the embedding's
  EXPECT_DOUBLE_EQ(less.back().backward_work.value, whole.back().forward_work.value);
}

TEST(Adapters, KeepStatesOfTheirOwnParametersOnly) {
  World world(2, 1);
  world.scenario.training.batch = 4;
  for (const char* technique : {"{DDP: {micro_batches: 2}}", "{ZeRO-1: {micro_batches: 2}}",
                                "{LocalSGD: {inner_steps: 2, micro_batches: 2}}"}) {
    const DeviceMemory m = world.memory(technique), whole = world.memory(technique, false);
    EXPECT_EQ(m.parameters.value, 2 * (kOwn + kAdapters)) << technique;
    EXPECT_EQ(m.gradients.value, 2 * kAdapters) << technique;
    EXPECT_NEAR(m.optimizer / whole.optimizer, kAdapters / kOwn, 1e-12) << technique;
  }
}

TEST(Adapters, LeaveDividedParametersInTrainingPrecision) {
  World world(2, 1);
  world.scenario.training.batch = 4;
  const DeviceMemory stage3 = world.memory("{ZeRO-3: {}}");
  EXPECT_EQ(stage3.parameters.value, 2 * (kOwn + kAdapters) / 2);
  EXPECT_EQ(stage3.gradients.value, 2 * kAdapters / 2);
  // All of two layers and the root whole; the half of each, of adapters in fp32 with their gradients and moments.
  const DeviceMemory fsdp = world.memory("{FSDP: {micro_batches: 2}}");
  EXPECT_EQ(fsdp.parameters.value, 2 * (kOwn + kAdapters) + 2 * kOwn / 2 + 4 * kAdapters / 2);
  EXPECT_EQ(fsdp.gradients.value, 2 * kAdapters + 4 * kAdapters / 2);
  EXPECT_EQ(fsdp.optimizer.value, 8 * kAdapters / 2);
}

TEST(Adapters, KeepInputsThatTheirGradientsNeed) {
  // Not kept: inputs of projection, up and down, 10 x (16 + 16 + 64) of each layer, of the head 10 x 16, and of the norm in
  // front of the first adapter 10 x 16, 2 B each; the mask of the embedding's dropout, 160 B. Kept: what A writes, 10 x 2
  // twice in each layer.
  World world(1, 1);
  world.scenario.framework.gradient_copies = 0;  // so that the passes need most
  const double less = 2 * (2 * 960 + 160 + 160) + 160, more = 2 * 2 * 2 * 20;
  EXPECT_DOUBLE_EQ((world.memory("{DDP: {}}", false).activations - world.memory("{DDP: {}}").activations).value,
                   less - more);
}

TEST(Adapters, OfGpt3TakeThePublishedMemoryForTheirModel) {
  // arXiv 2106.09685, section 4.2: 1.2 TB become 350 GB, two bytes for each of 175 B parameters.
  Transformer model;
  model.name = "gpt3";
  model.hidden = 12288;
  model.heads = model.kv_heads = 96;
  model.layers = 96;
  model.sequence = 2048;
  model.vocabulary = 50257;
  model.intermediate = 4 * 12288;
  model.lora = Lora{4, {LoraTarget::kQuery, LoraTarget::kValue}};
  const OperatorGraph operators = build_operator_graph(model);
  Scenario scenario = small_scenario(1, 1);
  const DeviceMemory m =
      memory_of(plan_of(scenario, model, operators, written("{DDP: {}}")), operators, scenario).front();
  EXPECT_NEAR(m.parameters.value, 350e9, 0.01 * 350e9);
  EXPECT_LT((m.gradients + m.optimizer).value, 0.5e9);
}

TEST(Adapters, AreRefusedByTechniquesThatDoNotKnowThem) {
  const World world(2, 1);
  for (const char* technique : {"{Data: {}}", "{Megatron: {}}", "{Pipeshard: {}}"}) {
    const TechniqueOptions options = written(technique);
    const Group group{{"a", "b"}, {0, 1}};
    const PlanResult result = make_plan({world.scenario, world.model, world.adapted, group, options});
    EXPECT_FALSE(result.plan) << technique;
    EXPECT_THAT(result.reason, HasSubstr("with training.lora choose among DDP, ZeRO-1"));
  }
}

}  // namespace
}  // namespace slmsim::lora_test
