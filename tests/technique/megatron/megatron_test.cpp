// Megatron-LM: what hides behind gradients of weights, what its distributed optimizer exchanges, stages of unequal layers.
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::megatron_test {
namespace {

struct World {
  Scenario scenario = small_scenario(1, 2);
  Transformer model = small_model(1);
  OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options;

  World(const std::string& techniques, double rate) : options(written(techniques)) {
    scenario = small_scenario(1, 2, rate);
  }
  Plan plan() const { return plan_of(scenario, model, operators, options); }
  double end() const { return end_of(plan(), operators, scenario); }
  TaskGraph graph() const { return lowered(plan(), operators, scenario); }
};

constexpr const char* kOverlapped = "{Megatron: {tensor: 2}}";
constexpr const char* kBlocked = "{Megatron: {tensor: 2, overlap: no}}";

TEST(MegatronOverlap, HidesExchangesBehindTheGradientsOfWeights) {
  // A layer and a head, 10 tokens, on 2 GPUs: gradients of the weights of Q, K, V move (10 x 16 + 16 x 24 + 10 x 24) x 2 B
  // at 200 B/s, 7.84 s, those of the MLP's first product (160 + 16 x 32 + 10 x 32) x 2 B, 9.92 s: 8.88 s for each of a
  // layer's exchanges. The head's move (160 + 16 x 50 + 10 x 50) x 2 B, 14.6 s.
  constexpr double kOfBlock = 8.88, kOfHead = 14.6;
  const double free = World(kBlocked, 1e15).end();
  for (const double rate : {80.0, 30.0, 10.0}) {
    const double blocked = World(kBlocked, rate).end();
    // Two forward, two backward, one after the embedding and one before the head's gradient goes on.
    const double exchange = (blocked - free) / 6;
    const double hidden = 2 * std::min(exchange, kOfBlock) + std::min(exchange, kOfHead);
    EXPECT_NEAR(World(kOverlapped, rate).end(), blocked - hidden, 1e-3 * blocked) << rate;
  }
}

TEST(MegatronOverlap, TakesMultiprocessorsFromWhatIsComputedMeanwhile) {
  // Products alone take time. One channel holds one of four multiprocessors, two hold two.
  const auto with_channels = [](const char* technique, int channels) {
    World world(technique, 30);
    world.scenario.nccl.max_channels = world.scenario.nccl.min_channels = channels;
    for (auto& device : world.scenario.platform.devices) {
      device.gpu.multiprocessors = 4;
      device.gpu.memory_bandwidth = BytesPerSecond{1e18};
      device.gpu.peak.fill(FlopsPerSecond{1000});
    }
    return world.end();
  };
  EXPECT_GT(with_channels(kOverlapped, 2), with_channels(kOverlapped, 1) * 1.001);
  EXPECT_EQ(with_channels(kBlocked, 2), with_channels(kBlocked, 1));
  EXPECT_LT(with_channels(kOverlapped, 2), with_channels(kBlocked, 2));
}

TEST(MegatronOptimizer, ThatIsDistributedExchangesAsMuchAndUpdatesItsPart) {
  const World whole("{Megatron: {data: 2}}", 100), divided("{Megatron: {data: 2, distributed_optimizer: yes}}", 100);
  const auto with_two = [](World world) {
    world.scenario.training.batch = 2;
    return world;
  };
  // P = 3280 + 1792 = 5072 parameters of 2 B: each GPU sends half of them twice, either way.
  const TaskGraph scattered = with_two(divided).graph();
  EXPECT_EQ(bytes_over(with_two(whole).graph(), "all-reduce grads"), 2 * 5072 * 2);
  EXPECT_EQ(bytes_over(scattered, "reduce-scatter grads"), 5072 * 2);
  EXPECT_EQ(bytes_over(scattered, "all-gather parameters"), 5072 * 2);
  // Adam moves 28 B per parameter at 200 B/s; half of them are left.
  EXPECT_NEAR(with_two(whole).end() - with_two(divided).end(), 5072 / 2.0 * 28 / 200, 1e-6);
}

// Two instances of two replicas: gradients of B bytes are scattered in each (B over a pair), halves summed between them (B over
// each of two pairs), and weights gathered in each.
TEST(MegatronOptimizer, MayBeDistributedInInstances) {
  World world("{Megatron: {data: 4, distributed_optimizer: yes, optimizer_instances: 2}}", 1e15);
  world.scenario = small_scenario(1, 4);
  world.scenario.training.batch = 4;
  const TaskGraph graph = world.graph();
  EXPECT_EQ(bytes_over(graph, "reduce-scatter grads"), 2 * 5072 * 2);
  EXPECT_EQ(bytes_over(graph, "all-reduce grads"), 2 * 5072 * 2);
  EXPECT_EQ(bytes_over(graph, "all-gather parameters"), 2 * 5072 * 2);
  const auto optimizer = [&](const char* technique) {
    world.options = written(technique);
    return memory_of(world.plan(), world.operators, world.scenario).front().optimizer.value;
  };
  EXPECT_DOUBLE_EQ(optimizer("{Megatron: {data: 4, distributed_optimizer: yes, optimizer_instances: 2}}"),
                   2 * optimizer("{Megatron: {data: 4, distributed_optimizer: yes}}"));
  Group group;
  for (int i = 0; i < 4; ++i) group.devices.push_back(i);
  const auto refusal = [&](const char* technique) {
    return make_plan({world.scenario, world.model, world.operators, group, written(technique)}).reason;
  };
  EXPECT_EQ(refusal("{Megatron: {data: 4, optimizer_instances: 2}}"),
            "optimizer_instances 2 needs distributed_optimizer: yes");
  EXPECT_EQ(refusal("{Megatron: {data: 4, distributed_optimizer: yes, optimizer_instances: 3}}"),
            "optimizer_instances 3 does not divide 4 replicas");
}

// Layers of each stage.
std::vector<int> layers_of(const World& world) {
  std::vector<int> layers;
  const Plan plan = world.plan();
  for (const Stage& stage : plan.stages) {
    int count = 0;
    for (std::size_t v = stage.first; v < stage.last; ++v) count += world.operators[v].role == Role::kAttentionNorm;
    layers.push_back(count);
  }
  return layers;
}

TEST(MegatronStages, MayHoldOtherNumbersOfLayersAtTheEnds) {
  World world("{Megatron: {pipeline: 4, first_stage_layers: 1, last_stage_layers: 3}}", 1e15);
  world.scenario = small_scenario(1, 4);
  world.scenario.training.batch = 4;
  world.model = small_model(8);
  world.operators = build_operator_graph(world.model);
  EXPECT_EQ(layers_of(world), (std::vector<int>{1, 2, 2, 3}));
  // All is computed that equal stages compute.
  const auto computed = [](const TaskGraph& graph) {
    double sum = 0;
    for (const Task& task : graph.tasks()) sum += task.kind == TaskKind::kCompute ? task.amount : 0;
    return sum;
  };
  const TaskGraph uneven = world.graph();
  world.options = written("{Megatron: {pipeline: 4}}");
  EXPECT_NEAR(computed(uneven), computed(world.graph()), 1e-9 * computed(uneven));

  const auto refusal = [&](const char* techniques) {
    Group group;
    for (int i = 0; i < 4; ++i) group.devices.push_back(i);
    return make_plan({world.scenario, world.model, world.operators, group, written(techniques)}).reason;
  };
  EXPECT_EQ(refusal("{Megatron: {pipeline: 4, first_stage_layers: 1}}"),
            "8 layers minus 1 and 0 of the first and the last stage are not divisible by 3 other stages");
  EXPECT_EQ(refusal("{Megatron: {data: 4, first_stage_layers: 1}}"),
            "first_stage_layers and last_stage_layers need a pipeline without chunks");
}

// Products of a layer have 16 x (48 + 16 + 64) + 64 x 16 = 3072 weights, the head 16 x 100: stages end where their sum passes
// 6544, 13 088 and 19 632 of 26 176.
TEST(MegatronStages, MayBeCutByWeights) {
  World world("{Megatron: {pipeline: 4}}", 1e15);
  world.scenario = small_scenario(1, 4);
  world.scenario.training.batch = 4;
  world.scenario.software.stages_by_weights = true;
  world.model = small_model(8);
  world.operators = build_operator_graph(world.model);
  EXPECT_EQ(layers_of(world), (std::vector<int>{3, 2, 2, 1}));
  // Seven layers do not divide; three are the fewest that four stages hold, the last of which has the head alone.
  world.model = small_model(7);
  world.operators = build_operator_graph(world.model);
  EXPECT_EQ(layers_of(world), (std::vector<int>{2, 2, 2, 1}));
  world.model = small_model(3);
  world.operators = build_operator_graph(world.model);
  EXPECT_EQ(layers_of(world), (std::vector<int>{1, 1, 1, 0}));
  EXPECT_GT(world.end(), 0);
}

// 5072 parameters in bf16: a pass's gradients and their sums are read, the sums written, 10 B each at 200 B/s.
TEST(MegatronGradients, OfPyTorchsReplicasAreAddedToSumsAfterEachPass) {
  for (const int passes : {1, 3}) {
    World world("{Megatron: {data: 2, micro_batches: " + std::to_string(passes) + "}}", 1e15);
    world.scenario.training.batch = 2 * passes;
    world.scenario.training.precision = Precision::kBf16;
    const double fused = world.end();
    world.scenario.software.ddp_buckets = true;
    EXPECT_NEAR(world.end() - fused, passes * 5072 * 10 / 200.0, 1e-6);
  }
}

TEST(MegatronGradients, OfBf16AreInFp32) {
  World world("{Megatron: {data: 2}}", 1e15);
  world.scenario.training.batch = 2;
  world.scenario.training.precision = world.scenario.training.gradient_precision = Precision::kBf16;
  EXPECT_EQ(world.plan().megatron().gradients, Precision::kFp32);
  EXPECT_EQ(bytes_over(world.graph(), "all-reduce grads"), 2 * 5072 * 4);
}

DeviceMemory memory_of_first(const World& world) {
  return memory_of(world.plan(), world.operators, world.scenario).front();
}

// 10 tokens x 100 logits over two GPUs, in fp16: 2 B of the logits, 4 in fp32, 4 of the softmax, 2 of the gradient.
TEST(MegatronMemory, HoldsTwelveBytesPerLogit) {
  World world("{Megatron: {tensor: 2}}", 1e15);
  const double all = memory_of_first(world).activations.value;
  EXPECT_EQ(world.scenario.software.sharded_loss_memory, 10);  // beside the logits' 2
  world.scenario.software.sharded_loss_memory = 9;
  EXPECT_DOUBLE_EQ(all - memory_of_first(world).activations.value, 1000 / 2);
}

// A layer adds up two tensors of 10 x 16 over its GPUs and the divided embedding one, 2 B an element: freed, but the sums'
// stream may still read them.
TEST(MegatronMemory, ReservesWhatTheSumsOfAPassHold) {
  const DeviceMemory divided = memory_of_first(World("{Megatron: {tensor: 2}}", 1e15));
  EXPECT_DOUBLE_EQ(divided.held.value, 3 * 160 * 2);
  EXPECT_DOUBLE_EQ((divided.reserved() - divided.allocated()).value, 960);
  EXPECT_DOUBLE_EQ((divided.total() - divided.reserved()).value, (divided.nccl + divided.framework).value);
  World replicas("{Megatron: {data: 2}}", 1e15);
  replicas.scenario.training.batch = 2;
  EXPECT_EQ(memory_of_first(replicas).held.value, 0);
}

// bf16, 5072 parameters: buckets of 2 B; 2 B more from the end of a backward pass until its gradients are added up.
TEST(MegatronMemory, HasTheBucketsOfPyTorchsReplicas) {
  World world("{Megatron: {data: 2}}", 1e15);
  world.scenario.training.batch = 2;
  world.scenario.training.precision = Precision::kBf16;
  const DeviceMemory plain = memory_of_first(world);
  EXPECT_DOUBLE_EQ((plain.buffers - plain.nccl).value, 0);
  world.scenario.software.ddp_buckets = true;
  const DeviceMemory wrapped = memory_of_first(world);
  EXPECT_DOUBLE_EQ((wrapped.buffers - wrapped.nccl).value, 2 * 5072);
  // Without logits and with few activations the end of the backward pass has most.
  world.scenario.software.sharded_loss_memory = 0;
  world.model.sequence = 1;
  world.operators = build_operator_graph(world.model);
  const double parameters = parameter_count(world.operators);
  EXPECT_DOUBLE_EQ(memory_of_first(world).gradients.value, (4 + 2) * parameters);
}

TEST(MegatronMemory, HasABufferForEachCommunicator) {
  World world("{Megatron: {tensor: 2, data: 2}}", 1e15);
  world.scenario = small_scenario(1, 4);
  world.scenario.training.batch = 2;
  world.scenario.nccl.buffer = Bytes{100};
  // One channel with a send and a receive buffer: of all four, of the tensor-parallel pair, which is also a replica, and of the
  // pair of replicas.
  EXPECT_DOUBLE_EQ(memory_of_first(world).nccl.value, 3 * 2 * 100);
  world.options = written("{Megatron: {pipeline: 2, data: 2}}");
  world.scenario.training.batch = 4;
  world.model = small_model(2);
  world.operators = build_operator_graph(world.model);
  // All four, two replicas, the replica's two stages, and two channels each way to the other stage.
  EXPECT_DOUBLE_EQ(memory_of_first(world).nccl.value, 3 * 2 * 100 + 4 * 100);
}

}  // namespace
}  // namespace slmsim::megatron_test
