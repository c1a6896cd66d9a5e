// Options of techniques beside what Alpa does: sums by VM, unequal shares, stages by speed, degrees.
#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A GPU that reads 100 B/s takes twice as long as the others.
Scenario with_slow_gpu(int device) {
  Scenario scenario = small_scenario(2, 1);
  Gpu& gpu = scenario.platform.devices[device].gpu;
  gpu.name = "slow";
  gpu.memory_bandwidth = BytesPerSecond{100};
  return scenario;
}

std::string reason(const Scenario& scenario, const TechniqueOptions& options) {
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  Group group;
  for (std::size_t i = 0; i < scenario.platform.devices.size(); ++i) group.devices.push_back(static_cast<int>(i));
  return make_plan({scenario, model, operators, group, options}).reason;
}

// On 2 VMs x 2 GPUs.
int micro_batches(const std::string& technique, int batch, int micro_batch) {
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = batch;
  scenario.training.micro_batch = micro_batch;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  const PlanResult result = make_plan({scenario, model, operators, {{}, {0, 1, 2, 3}}, written(technique)});
  return result.plan ? result.plan->micro_batches : 0;
}

TEST(MicroBatch, IsOfAGpuOrOfAPipeline) {
  EXPECT_EQ(micro_batches("{DDP: {}}", 24, 2), 3);    // 24 / (4 GPUs x 2)
  EXPECT_EQ(micro_batches("{FSDP: {}}", 24, 3), 2);   // 24 / (4 x 3)
  EXPECT_EQ(micro_batches("{ZeRO2: {}}", 24, 6), 1);  // 24 / (4 x 6), in place of one sequence at a time
  EXPECT_EQ(micro_batches("{Shard: {}}", 24, 4), 6);  // all GPUs together: 24 / 4
  EXPECT_EQ(micro_batches("{Megatron: {pipeline: 2, data: 2}}", 24, 3), 4);  // 24 / (2 replicas x 3)
  EXPECT_EQ(micro_batches("{DDP: {micro_batches: 6}}", 24, 2), 6);           // its own
}

TEST(MicroBatch, DividesTheBatchAndLeavesNoGpuIdle) {
  EXPECT_EQ(micro_batches("{DDP: {}}", 20, 2), 5);   // each GPU's 5 sequences one by one
  EXPECT_EQ(micro_batches("{DDP: {}}", 12, 2), 3);   // 3 for each; 2 micro-batches of 6 would give a GPU 4
  EXPECT_EQ(micro_batches("{DDP: {}}", 22, 2), 2);   // shares differ; 11 of 2 sequences would leave GPUs idle
  EXPECT_EQ(micro_batches("{DDP: {}}", 6, 1), 1);    // 2 of 3 sequences would leave a GPU idle
  EXPECT_EQ(micro_batches("{DDP: {}}", 24, 99), 1);  // all at once
}

TEST(Hierarchical, SumsInsideEachVmAndSendsEachPartOnceBetweenThem) {
  // P = 8352 parameters of 2 B are 16704 B. On 2 VMs x 2 GPUs each GPU sends inside its VM 1/2 of it to reduce and 1/2 to
  // gather, 8352 B each; between VMs each half is reduced by a ring of two, 2 x 1/2 x 8352 B per GPU. So 4 x 3 x 8352 B in
  // all, of which 2 x 8352 B each way between the VMs, where one ring over all sends 3/2 x 16704 B = 25056 B.
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = 4;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(named("Data"), 1);
  options.set(kHierarchical, true);
  const TaskGraph graph = lowered(plan_of(scenario, model, operators, options), operators, scenario);
  EXPECT_EQ(bytes_over(graph, ""), 12 * 8352);
  EXPECT_EQ(bytes_over(graph, "", "wan:a->b"), 2 * 8352);
  EXPECT_EQ(bytes_over(graph, "", "wan:b->a"), 2 * 8352);
}

TEST(Hierarchical, TakesSeveralVmsWithEquallyManyGpus) {
  TechniqueOptions options = with(named("Data"), 1);
  options.set(kHierarchical, true);
  Scenario scenario = small_scenario(1, 4);
  scenario.training.batch = 4;
  EXPECT_THAT(reason(scenario, options), HasSubstr("several VMs with the same number of GPUs"));
  options = written("{ZeRO2: {micro_batches: 1, hierarchical: yes, gradient_collective: reduce-scatter}}");
  scenario = small_scenario(2, 2);
  scenario.training.batch = 4;
  EXPECT_THAT(reason(scenario, options), HasSubstr("all-reduce"));
}

TEST(BatchSplit, GivesTheSlowGpuFewerSequences) {
  // Layers take 1 + 2 s per sequence, 2 + 4 s on the slow GPU. Each GPU has one of 3 sequences; the third would be done
  // after 6 s on the fast one, after 12 s on the slow one.
  Scenario scenario = with_slow_gpu(0);
  scenario.training.batch = 3;
  const OperatorGraph operators = chain(1);
  TechniqueOptions options = with(named("Data"), 1);
  EXPECT_NEAR(end_of(plan_of(scenario, small_model(1), operators, options), operators, scenario), 12, kClock);
  options.set(kBatchSplit, BatchSplit::kSpeed);
  const Plan plan = plan_of(scenario, small_model(1), operators, options);
  EXPECT_THAT(plan.stages[0].batch_shares, ElementsAre(1.0 / 3, 2.0 / 3));
  EXPECT_NEAR(end_of(plan, operators, scenario), 6, kClock);
}

TEST(BatchSplit, GivesWhatIsLeftToTheFirstOfThoseThatTie) {
  // Four alike GPUs and 6 sequences. The last digit of a rate, as it comes of other units, makes none the faster one.
  for (const double digit : {-1e-15, 0.0, 1e-15}) {
    for (const int other : {0, 1, 3}) {
      Scenario scenario = small_scenario(2, 2);
      scenario.training.batch = 6;
      Gpu& gpu = scenario.platform.devices[other].gpu;
      gpu.memory_bandwidth = gpu.memory_bandwidth * (1 + digit);
      TechniqueOptions options = with(named("Data"), 1);
      options.set(kBatchSplit, BatchSplit::kSpeed);
      const Plan plan = plan_of(scenario, small_model(1), chain(1), options);
      EXPECT_THAT(plan.stages[0].batch_shares, ElementsAre(2.0 / 6, 2.0 / 6, 1.0 / 6, 1.0 / 6)) << other << digit;
    }
  }
}

TEST(BatchSplit, IsThatOfAllReplicas) {
  Scenario scenario = with_slow_gpu(0);
  scenario.training.batch = 3;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  for (const char* technique : {"DDP", "FSDP", "ZeRO-1", "ZeRO-2", "ZeRO-3"}) {
    const auto shares = [&](const char* split) {
      const auto options = written(std::string("{") + technique + ": {batch_split: " + split + "}}");
      return plan_of(scenario, model, operators, options).stages[0].batch_shares;
    };
    EXPECT_THAT(shares("speed"), ElementsAre(1.0 / 3, 2.0 / 3)) << technique;
    EXPECT_THAT(shares("even"), ElementsAre(2.0 / 3, 1.0 / 3)) << technique;
  }
}

TEST(StageSplit, GivesTheSlowGpuFewerLayers) {
  // The fast GPU takes two of 3 layers of 3 s and the slow one the third: 6 s each.
  for (const int slow : {0, 1}) {
    Scenario scenario = with_slow_gpu(slow);
    const OperatorGraph operators = chain(3);
    TechniqueOptions options = with(named("Pipeshard"), 1);
    options.set(kSplit, StageSplit::kSpeed);
    const Plan plan = plan_of(scenario, small_model(3), operators, options);
    ASSERT_EQ(plan.stages.size(), 2);
    EXPECT_EQ(plan.stages[0].last, slow == 0 ? 1 : 2);
    EXPECT_NEAR(end_of(plan, operators, scenario), 12, kClock);
  }
}

TEST(TensorDegree, DividesProductsOverNeighboursAndSequencesOverTheRest) {
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = 4;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  for (const int tensor : {1, 2, 4}) {
    TechniqueOptions options = with(named("Shard"), 1);
    options.set(kTensor, tensor);
    const Stage stage = plan_of(scenario, model, operators, options).stages[0];
    EXPECT_EQ(stage.shape(), (MeshShape{4 / tensor, tensor}));
    for (std::size_t v = 0; v < stage.shardings.size(); ++v) {
      const auto [first, second] = stage.shardings[v].along;
      EXPECT_EQ(first, tensor < 4 ? Sharding::kBatch : Sharding::kReplicated) << name_of(operators[v].role);
      EXPECT_NE(second, Sharding::kBatch) << name_of(operators[v].role);
      const bool product = operators[v].kind == OperatorKind::kMatrix && operators[v].has_weights();
      if (product && tensor == 2) {
        EXPECT_NE(second, Sharding::kReplicated) << name_of(operators[v].role);
      }
    }
  }
  TechniqueOptions options = with(named("Shard"), 1);
  options.set(kTensor, 3);
  EXPECT_THAT(reason(scenario, options), HasSubstr("4 GPUs do not divide into groups of 3"));
}

TEST(PipelineOrder, GoesWithItsSchedule) {
  Scenario scenario = small_scenario(1, 2);
  scenario.training.batch = 4;
  const auto why = [&](const std::string& options) { return reason(scenario, written(options)); };
  EXPECT_EQ(why("{Pipeshard: {order: deepspeed}}"), "");
  EXPECT_THAT(why("{Pipeshard: {order: deepspeed, schedule: gpipe}}"), HasSubstr("schedule 1f1b"));
  EXPECT_THAT(why("{Pipeshard: {order: megatron, ahead: 1}}"), HasSubstr("without ahead"));
  EXPECT_THAT(why("{Pipeshard: {order: alpa, schedule: zb-h1}}"), HasSubstr("order asynchronous"));
  EXPECT_THAT(why("{Pipeshard: {schedule: gpipe, ahead: 1}}"), HasSubstr("schedule 1f1b"));
  EXPECT_EQ(why("{Pipeshard: {schedule: zb-h1}}"), "");
  EXPECT_THAT(why("{Megatron: {order: deepspeed}}"), HasSubstr("set pipeline"));
  EXPECT_EQ(why("{Megatron: {pipeline: 2, order: deepspeed}}"), "");
}

TEST(PipelineOrder, IsItsFrameworksWhereItIsLeftOut) {
  Scenario scenario = small_scenario(1, 2);
  scenario.training.batch = 4;
  const Transformer model = small_model(4);
  const OperatorGraph operators = build_operator_graph(model);
  const auto order = [&](const std::string& options) {
    return send_order_of(plan_of(scenario, model, operators, written(options)));
  };
  EXPECT_EQ(order("{Pipeshard: {}}"), SendOrder::kAlpa);
  EXPECT_EQ(order("{Pipeshard: {schedule: zb-h1}}"), SendOrder::kAsynchronous);
  EXPECT_EQ(order("{Megatron: {pipeline: 2}}"), SendOrder::kMegatron);
  EXPECT_EQ(order("{Megatron: {pipeline: 2, chunks: 2}}"), SendOrder::kAsynchronous);
  EXPECT_EQ(order("{Megatron: {pipeline: 2, order: deepspeed}}"), SendOrder::kDeepSpeed);
}

TEST(Fsdp, RefusesWhatHasNoEffectOrIsNotThere) {
  Scenario scenario = small_scenario(1, 2);
  scenario.training.batch = 4;
  const auto why = [&](const std::string& options) { return reason(scenario, written(options)); };
  EXPECT_THAT(why("{FSDP: {strategy: hybrid_shard}}"), HasSubstr("the same number of GPUs"));
  EXPECT_THAT(why("{FSDP: {strategy: shard_grad_op, forward_prefetch: yes}}"), HasSubstr("leave forward_prefetch out"));
  EXPECT_THAT(why("{FSDP: {cpu_offload: yes}}"),
              HasSubstr("the host memory of a is not known: state vms.a.host_memory"));
  EXPECT_EQ(why("{FSDP: {micro_batches: 2}}"), "");
}

}  // namespace
}  // namespace slmsim::options_test
