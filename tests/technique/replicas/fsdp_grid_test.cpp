// FSDP over a grid of tensor-parallel GPUs, replicas and stages: its exchanges and memory by hand, and Megatron-LM's where
// both do the same.
#include <gtest/gtest.h>

#include "sim/technique/alpa/operators.h"
#include "sim/technique/replicas/fsdp.h"
#include "sim/technique/replicas/tensor_exchange.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::fsdp_grid_test {
namespace {

// Parameters of the small model (untied): a layer; embedding and positions (100 + 10) x 16; final norm 32 and head 100 x 16.
constexpr double kLayer = 3280, kEmbedding = 1760, kHead = 1632;
constexpr double kStream = 10 * 16 * 2;  // bytes of a layer's input, one sequence

struct Case {
  Scenario scenario;
  Transformer model;
  OperatorGraph operators;
  TechniqueOptions options;

  Plan plan() const { return plan_of(scenario, model, operators, options); }
  TaskGraph graph() const { return lowered(plan(), operators, scenario); }
  std::vector<DeviceMemory> memory() const { return memory_of(plan(), operators, scenario); }
  std::string refusal() const {
    Group group;
    for (int i = 0; i < static_cast<int>(scenario.platform.devices.size()); ++i) group.devices.push_back(i);
    return make_plan({scenario, model, operators, group, options}).reason;
  }
  // Without Adam.
  double time() const {
    TaskGraph all = graph();
    all.scale(TaskClass::kOptimizer, 0);
    return simulate(all).end.value;
  }
};

// GPUs of one VM that move 200 B/s of memory, links of `rate`.
Case of(const std::string& technique, int gpus, int layers, int batch, double rate = 1e15) {
  Case out{small_scenario(1, gpus, rate), small_model(layers, false), {}, written(technique)};
  out.scenario.training.batch = batch;
  out.operators = build_operator_graph(out.model);
  return out;
}

TEST(FsdpGroups, DivideInsideAnyPartOfTheReplicas) {
  // Eight GPUs of one VM in groups of four: in each of two groups 3 B for a collective of B bytes; then four pairs sum a
  // quarter each, 2 B / 4 over each pair.
  const double all = 2 * (kEmbedding + kHead + 2 * kLayer);
  const TaskGraph graph = of("{FSDP: {strategy: hybrid_shard_zero2, shard: 4}}", 8, 2, 8).graph();
  EXPECT_DOUBLE_EQ(bytes_over(graph, "all-gather parameters"), 2 * 3 * all);
  EXPECT_DOUBLE_EQ(bytes_over(graph, "reduce-scatter grads"), 2 * 3 * all);
  EXPECT_DOUBLE_EQ(bytes_over(graph, "all-reduce grads of copies"), 4 * 2 * all / 4);
  const DeviceMemory memory = of("{FSDP: {strategy: hybrid_shard, shard: 4}}", 8, 2, 8).memory().front();
  EXPECT_DOUBLE_EQ(memory.optimizer.value, 8 * (all / 2) / 4);
  // Groups that are the VMs.
  Case vms = of("{FSDP: {strategy: hybrid_shard}}", 4, 2, 4),
       stated = of("{FSDP: {strategy: hybrid_shard, shard: 2}}", 4, 2, 4);
  for (Case* one : {&vms, &stated}) {
    one->scenario = small_scenario(2, 2, 1000);
    one->scenario.training.batch = 4;
  }
  EXPECT_DOUBLE_EQ(vms.time(), stated.time());
}

TEST(FsdpGroups, AreRefusedWhereTheyAreNoPart) {
  EXPECT_EQ(of("{FSDP: {shard: 4}}", 8, 2, 8).refusal(),
            "shard is the group of a hybrid strategy; set strategy: hybrid_shard");
  EXPECT_EQ(of("{FSDP: {strategy: hybrid_shard, shard: 3}}", 8, 2, 8).refusal(),
            "shard 3 is no part of 8 replicas; choose a smaller divisor of it");
  EXPECT_EQ(of("{FSDP: {strategy: hybrid_shard, shard: 8}}", 8, 2, 8).refusal(),
            "shard 8 is no part of 8 replicas; choose a smaller divisor of it, or full_shard");
  EXPECT_EQ(of("{FSDP: {strategy: hybrid_shard}}", 8, 2, 8).refusal(),
            "a hybrid strategy needs several VMs with the same number of GPUs; set shard, or use full_shard");
}

// 2 replicas of 2 tensor-parallel GPUs. A collective of B bytes moves B over a pair.
TEST(FsdpTensor, GathersAndReducesEachGpusPart) {
  const TaskGraph graph = of("{FSDP: {tensor: 2}}", 4, 2, 2).graph();
  // Two pairs of replicas, each with half of every parameter.
  EXPECT_DOUBLE_EQ(bytes_over(graph, "all-gather parameters"), 2 * (kEmbedding + kHead + 2 * 2 * kLayer));
  EXPECT_DOUBLE_EQ(bytes_over(graph, "reduce-scatter grads"), 2 * (kEmbedding + kHead + 2 * kLayer));
  // Two pairs of tensor-parallel GPUs. A layer gathers its two blocks' inputs and scatters their sums.
  for (const char* pass : {"fwd", "bwd"}) {
    const std::string name = std::string("tensor ") + pass;
    EXPECT_DOUBLE_EQ(bytes_over(graph, name + " L0"), 2 * 4 * kStream) << pass;
    EXPECT_DOUBLE_EQ(bytes_over(graph, name + " embedding"), 2 * kStream) << pass;
    EXPECT_DOUBLE_EQ(bytes_over(graph, name + " head"), 2 * kStream) << pass;
  }
}

TEST(FsdpTensor, RepeatsExchangesWhereItRecomputes) {
  const auto bytes = [](const char* recompute) {
    const std::string text = std::string("{FSDP: {tensor: 2, recompute: ") + recompute + "}}";
    return bytes_over(of(text, 2, 1, 1).graph(), "tensor bwd L0") / kStream;
  };
  EXPECT_DOUBLE_EQ(bytes("none"), 4);
  EXPECT_DOUBLE_EQ(bytes("selective"), 4);
  EXPECT_DOUBLE_EQ(bytes("operators"), 4 + 2);  // both gathers; sums are kept
  EXPECT_DOUBLE_EQ(bytes("full"), 4 + 3);       // all but the last scatter
}

// A gated MLP: three products take attention's input, two the MLP's.
TEST(FsdpTensor, ExchangesInputsOnceOrForEachProduct) {
  const TensorSizes sizes{Bytes{1}, Bytes{10}, 2};
  const auto count = [&](bool by_product, bool forward, Recompute recompute, Collective collective) {
    double sum = 0;
    for (const auto& block :
         tensor_blocks({.tensor = 4, .by_product = by_product}, sizes, UnitKind::kLayer, forward, recompute)) {
      for (const auto& calls : {block.before, block.after}) {
        for (const auto& call : calls) sum += call.collective == collective ? call.size.value : 0;
      }
    }
    return sum;
  };
  using enum Collective;
  EXPECT_EQ(count(false, true, Recompute::kNone, kAllGather), 2);
  EXPECT_EQ(count(false, true, Recompute::kNone, kReduceScatter), 2);
  EXPECT_EQ(count(true, true, Recompute::kNone, kAllGather), 5);
  EXPECT_EQ(count(true, true, Recompute::kNone, kReduceScatter), 2);
  EXPECT_EQ(count(true, false, Recompute::kNone, kAllGather), 2);
  EXPECT_EQ(count(true, false, Recompute::kNone, kReduceScatter), 5);
  // KempnerForge, benchmarks/profiling/13b_24gpu_profiling.md: in 800 passes of recomputed layers 9679 all-gathers and 6420
  // reduce-scatters of tensor parallelism, with the few of embedding and head.
  EXPECT_EQ(800 * (count(true, true, Recompute::kFull, kAllGather) + count(true, false, Recompute::kFull, kAllGather)),
            9600);
  EXPECT_EQ(800 * (count(true, true, Recompute::kFull, kReduceScatter) +
                   count(true, false, Recompute::kFull, kReduceScatter)),
            6400);
}

TEST(FsdpTensor, DividesTheEndsOrNot) {
  const auto bytes = [](const char* options, const char* label) {
    return bytes_over(of(std::string("{FSDP: {tensor: 2, ") + options + "}}", 2, 1, 1).graph(), label);
  };
  // 10 tokens x 100 logits of 2 B.
  EXPECT_DOUBLE_EQ(bytes("ends: gathered", "tensor fwd head"), kStream + 2000);
  EXPECT_DOUBLE_EQ(bytes("ends: gathered", "tensor bwd head"), kStream);
  // All-reduces of a layer move twice the bytes.
  EXPECT_DOUBLE_EQ(bytes("sequence_parallel: no", "tensor fwd L0"), 2 * 2 * kStream);
  EXPECT_DOUBLE_EQ(bytes("sequence_parallel: no, ends: whole", "tensor fwd L0"), 2 * 2 * kStream);
  EXPECT_DOUBLE_EQ(bytes("sequence_parallel: no, ends: whole", "tensor fwd head"), 0);
  EXPECT_DOUBLE_EQ(bytes("sequence_parallel: no, ends: whole", "tensor bwd embedding"), 0);
}

// Nothing is sharded with one replica.
TEST(FsdpTensor, TakesMegatronsTimeForTheSameExchanges) {
  for (const double rate : {1e15, 30.0}) {
    const double megatron = of("{Megatron: {tensor: 2, overlap: no}}", 2, 3, 1, rate).time();
    EXPECT_NEAR(of("{FSDP: {tensor: 2, sequence_parallel: no}}", 2, 3, 1, rate).time(), megatron, 1e-6 * megatron);
  }
}

TEST(FsdpPipeline, TakesMegatronsTimeWithOneReplica) {
  for (const double rate : {1e15, 30.0}) {
    const double megatron = of("{Megatron: {pipeline: 2, micro_batches: 4}}", 2, 4, 4, rate).time();
    Case fsdp = of("{FSDP: {pipeline: 2, micro_batches: 4}}", 2, 4, 4, rate);
    fsdp.scenario.software.caching_allocator = false;  // as Megatron's, products add to sums of gradients
    EXPECT_NEAR(fsdp.time(), megatron, 1e-6 * megatron);
  }
}

TEST(FsdpPipeline, GathersAndReducesOnceForAllMicroBatches) {
  const Case one = of("{FSDP: {pipeline: 2, micro_batches: 4}}", 4, 2, 8);
  const TaskGraph graph = one.graph();
  const double all = 2 * (kEmbedding + kHead + 2 * kLayer);
  EXPECT_DOUBLE_EQ(bytes_over(graph, "all-gather parameters"), all);
  EXPECT_DOUBLE_EQ(bytes_over(graph, "reduce-scatter grads"), all);
  EXPECT_DOUBLE_EQ(bytes_over(graph, "send act"), 2 * 4 * kStream);
  EXPECT_DOUBLE_EQ(bytes_over(graph, "send grad"), 2 * 4 * kStream);
  // The first stage's gradients leave after its last backward pass.
  const Timeline timeline = simulate(graph);
  double computed = 0, reduced = 1e18;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const std::string& name = graph.tag_of(graph.tasks()[id]).name;
    if (name == "bwd embedding") computed = std::max(computed, timeline.finish[id]);
    if (graph.tasks()[id].kind != TaskKind::kTransfer || !name.starts_with("reduce-scatter")) continue;
    if (graph.connections()[graph.tasks()[id].place].from < 2) reduced = std::min(reduced, timeline.start[id]);
  }
  EXPECT_GE(reduced, computed - kClock);
}

TEST(FsdpPipeline, SendsPartsByTokens) {
  const TaskGraph parts = of("{FSDP: {pipeline: 2, tensor: 2, micro_batches: 2}}", 4, 2, 2).graph();
  EXPECT_DOUBLE_EQ(bytes_over(parts, "send act"), 2 * kStream);
  const TaskGraph whole =
      of("{FSDP: {pipeline: 2, tensor: 2, micro_batches: 2, sequence_parallel: no}}", 4, 2, 2).graph();
  EXPECT_DOUBLE_EQ(bytes_over(whole, "send act"), 2 * 2 * kStream);
}

// Two stages of two replicas of two GPUs, 16-bit training: the first stage has the embedding and a layer, half of each
// parameter on a GPU, all whole and a half of that as fp32 parts.
TEST(FsdpPipeline, HoldsItsStageWhole) {
  const Case one = of("{FSDP: {pipeline: 2, tensor: 2, micro_batches: 2}}", 8, 2, 4);
  const auto memory = one.memory();
  ASSERT_EQ(memory.size(), 8);
  const double first = (kEmbedding + kLayer) / 2, last = (kHead + kLayer) / 2;
  EXPECT_DOUBLE_EQ(memory[0].parameters.value, 2 * first + 4 * first / 2);
  EXPECT_DOUBLE_EQ(memory[0].gradients.value, 2 * first + 4 * first / 2);
  EXPECT_DOUBLE_EQ(memory[0].optimizer.value, 8 * first / 2);
  EXPECT_DOUBLE_EQ(memory[7].optimizer.value, 8 * last / 2);
  // Two micro-batches in flight on the first stage, one on the last.
  const auto each = activations_by_moment(one.plan(), one.operators, 0, one.scenario, 0);
  EXPECT_DOUBLE_EQ(memory[0].activations.value, (each.kept + each.each).value);
}

// 10 tokens of 16 in 2 B. Of a layer with sequence parallelism: both norms' inputs and both residuals' masks by tokens, inputs
// of the products into a block whole, the rest by heads and columns.
TEST(FsdpTensor, KeepsActivationsInParts) {
  const auto kept = [](const char* technique, int gpus) {
    const Case one = of(technique, gpus, 3, 1);
    const Case more = of(technique, gpus, 4, 1);
    return (activations_by_moment(more.plan(), more.operators, 0, more.scenario).each -
            activations_by_moment(one.plan(), one.operators, 0, one.scenario).each)
        .value;
  };
  const double whole = kept("{FSDP: {}}", 1), inputs = 2 * kStream;
  EXPECT_NEAR(kept("{FSDP: {tensor: 2}}", 2), (whole - inputs) / 2 + inputs, 1e-9);
  EXPECT_NEAR(kept("{FSDP: {tensor: 2, recompute: full}}", 2), kStream / 2, 1e-9);
}

// torchtitan's generate_split_points: of 126 layers on 8 stages the first and the last have 15, the six between 16.
TEST(FsdpPipeline, GivesTheRestToTheMiddle) {
  const Plan plan = of("{FSDP: {pipeline: 8, micro_batches: 8}}", 8, 126, 8).plan();
  std::vector<int> layers;
  const OperatorGraph operators = build_operator_graph(small_model(126, false));
  for (const Stage& stage : plan.stages) {
    int count = 0;
    for (std::size_t v = stage.first; v < stage.last; ++v) count += operators[v].role == Role::kAttentionNorm;
    layers.push_back(count);
  }
  EXPECT_EQ(layers, (std::vector<int>{15, 16, 16, 16, 16, 16, 16, 15}));
}

TEST(FsdpUnits, MayHaveSeveralLayers) {
  const auto count = [](const char* options, const char* label) {
    return count_of(of(std::string("{FSDP: {") + options + "}}", 2, 5, 2).graph(), label);
  };
  // The root, and 5, 3 or 1 units, each gathered twice and reduced once; the root once. On two GPUs each collective is two transfers.
  EXPECT_EQ(count("unit_layers: 1", "all-gather"), 2 * (1 + 2 * 5));
  EXPECT_EQ(count("unit_layers: 2", "all-gather"), 2 * (1 + 2 * 3));
  EXPECT_EQ(count("unit_layers: 5", "all-gather"), 2 * (1 + 2 * 1));
  EXPECT_EQ(count("unit_layers: 2", "reduce-scatter"), 2 * (1 + 3));
  const double all = 2 * (kEmbedding + kHead + 2 * 5 * kLayer);
  for (const char* options : {"unit_layers: 1", "unit_layers: 2", "unit_layers: 9"})
    EXPECT_DOUBLE_EQ(bytes_over(of(std::string("{FSDP: {") + options + "}}", 2, 5, 2).graph(), "all-gather"), all);
  // Whole: the root and all layers.
  const DeviceMemory memory = of("{FSDP: {unit_layers: 5}}", 2, 5, 2).memory().front();
  EXPECT_DOUBLE_EQ(memory.parameters.value, (2 + 4.0 / 2) * (kEmbedding + kHead + 5 * kLayer));
}

TEST(FsdpGrid, IsRefusedWhereItDoesNotDivide) {
  EXPECT_EQ(of("{FSDP: {tensor: 4}}", 4, 2, 4).refusal(), "2 heads of 16 are not divisible by 4 GPUs");
  EXPECT_EQ(of("{FSDP: {tensor: 2}}", 3, 2, 3).refusal(), "tensor 2 x pipeline 1 does not divide 3 GPUs");
  EXPECT_EQ(of("{FSDP: {pipeline: 4}}", 4, 3, 4).refusal(), "3 layers are fewer than 4 stages");
  EXPECT_EQ(of("{FSDP: {tensor: 2, sequence_parallel: yes, ends: whole}}", 4, 2, 4).refusal(),
            "ends: whole is for layers that exchange whole activations; set sequence_parallel: no");
  EXPECT_EQ(of("{FSDP: {pipeline: 2, micro_batches: 4}}", 4, 2, 4).refusal(),
            "a batch of 4 does not divide into 4 micro-batches of 2 replicas; batches of 8 do");
  for (const char* option : {"sequence_parallel: no", "gather_once: no", "ends: whole"})
    EXPECT_EQ(of(std::string("{FSDP: {") + option + "}}", 4, 2, 4).refusal(),
              "sequence_parallel, gather_once and ends have no effect without tensor; set tensor");
  EXPECT_EQ(of("{FSDP: {pipeline: 2, forward_prefetch: yes}}", 4, 2, 4).refusal(),
            "a pipeline already gathers all layers ahead; leave forward_prefetch out");
  EXPECT_EQ(of("{FSDP: {tensor: 2, cpu_offload: yes}}", 4, 2, 4).refusal(),
            "cpu_offload is modelled without tensor and pipeline; leave these out");
  Case tied = of("{FSDP: {pipeline: 2}}", 4, 2, 4);
  tied.model = small_model(2);
  tied.operators = build_operator_graph(tied.model);
  EXPECT_EQ(tied.refusal(), "a tied embedding is on the first and the last stage; FSDP has none in a pipeline");
}

}  // namespace
}  // namespace slmsim::fsdp_grid_test
