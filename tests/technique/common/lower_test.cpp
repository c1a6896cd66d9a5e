// Computations and messages of an iteration under each technique.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/technique/alpa/stage_program.h"
#include "sim/compute/operator_graph.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::lower_test {
namespace {

// With 2 layers: P = 2 x 3280 + 1792 = 8352.
constexpr double kParameters = 8352;

TaskGraph small_iteration(const Technique* technique, int micro_batches, int vms, int gpus, int batch,
                          const char* gathered = "") {
  Scenario scenario = small_scenario(vms, gpus);
  scenario.training.batch = batch;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(technique, micro_batches);
  if (*gathered)
    options =
        written(fmt::format("{{{}: {{micro_batches: {}, gathered: {}}}}}", technique->name, micro_batches, gathered));
  return lowered(plan_of(scenario, model, operators, options), operators, scenario);
}

TEST(Lower, TheSmallModelHasItsParameters) {
  EXPECT_EQ(parameter_count(build_operator_graph(small_model(2))), kParameters);
}

TEST(Lower, DataSendsTheGradientsRingShareOverEveryEdge) {
  // 4 GPUs: 2 x 3/4 x 8352 x 2 B = 25056 B per GPU, and over each direction of the WAN between a/1 and b/0,
  // and b/1 and a/0.
  const TaskGraph graph = small_iteration(named("Data"), 1, 2, 2, 4);
  EXPECT_EQ(bytes_over(graph, "all-reduce grads"), 4 * 25056);
  EXPECT_EQ(bytes_over(graph, ""), 4 * 25056);  // and nothing else
  EXPECT_EQ(bytes_over(graph, "", "wan:a->b"), 25056);
  EXPECT_EQ(bytes_over(graph, "", "wan:b->a"), 25056);
  EXPECT_EQ(bytes_over(graph, "", "nic:a:out"), 25056);
}

TEST(Lower, DataReducesOnceWhateverTheMicroBatches) {
  const TaskGraph graph = small_iteration(named("Data"), 4, 1, 4, 16);
  EXPECT_EQ(bytes_over(graph, ""), 4 * 25056);
  EXPECT_EQ(count_of(graph, "fwd", TaskKind::kCompute), 16);  // 4 micro-batches x 4 GPUs
}

TEST(Lower, GradientsInFp32SendTwice) {
  Scenario scenario = small_scenario(1, 4);
  scenario.training.batch = 4;
  scenario.training.gradient_precision = Precision::kFp32;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  const Plan plan = plan_of(scenario, model, operators, with(named("Data"), 1));
  EXPECT_EQ(bytes_over(lowered(plan, operators, scenario), ""), 4 * 50112);
}

TEST(Lower, Zero2ScattersGradientsAndGathersParameters) {
  // 3/4 x 8352 x 2 B = 12528 B per GPU for each.
  const TaskGraph graph = small_iteration(named("ZeRO2"), 1, 1, 4, 4);
  EXPECT_EQ(bytes_over(graph, "reduce-scatter grads"), 4 * 12528);
  EXPECT_EQ(bytes_over(graph, "all-gather parameters"), 4 * 12528);
  EXPECT_EQ(bytes_over(graph, ""), 8 * 12528);
}

TEST(Lower, Zero2WithSeveralMicroBatchesKeepsTheAllReduce) {
  const TaskGraph graph = small_iteration(named("ZeRO2"), 2, 1, 4, 8);
  EXPECT_EQ(bytes_over(graph, "all-reduce grads"), 4 * 25056);
  EXPECT_EQ(bytes_over(graph, "all-gather parameters"), 4 * 12528);
}

TEST(Lower, Zero2MayGatherParametersInFp32) {
  const TaskGraph graph = small_iteration(named("ZeRO2"), 1, 1, 4, 4, "fp32");
  EXPECT_EQ(bytes_over(graph, "reduce-scatter grads"), 4 * 12528);
  EXPECT_EQ(bytes_over(graph, "all-gather parameters"), 4 * 25056);  // 3/4 x 8352 x 4 B
}

TEST(Lower, TensorDivisionHasFourCollectivesPerLayerTwoForEmbeddingAndHeadAndTwoForTheLoss) {
  // One sequence cannot be divided by sequences over 2 GPUs, so Shard divides the operators. Megatron: 2
  // all-reduces per layer forward and 2 backward, one after the embedding and one before the head's gradient;
  // the loss over a divided vocabulary exchanges each token's maximum, and its sum and target.
  for (const int layers : {1, 2, 5}) {
    for (const int micro_batches : {1, 3}) {
      Scenario scenario = small_scenario(1, 2);
      scenario.training.batch = micro_batches;
      const Transformer model = small_model(layers);
      const OperatorGraph operators = build_operator_graph(model);
      const Plan plan = plan_of(scenario, model, operators, with(named("Shard"), micro_batches));
      const int collectives = 4 * layers + 2;
      const StageProgram program = stage_program(operators, plan.stages[0], 1, plan.recompute, scenario);
      const auto calls = [](const std::vector<Segment>& segments) {
        return std::count_if(segments.begin(), segments.end(), [](const Segment& s) { return s.then.has_value(); });
      };
      EXPECT_EQ(calls(program.forward), 2 * layers + 1 + 2);
      EXPECT_EQ(calls(program.backward), 2 * layers + 1);
      const TaskGraph graph = lowered(plan, operators, scenario);
      EXPECT_EQ(count_of(graph, "all-reduce"), (collectives + 2) * micro_batches * 4);  // 2 steps x 2 GPUs each
      // Each reduces S h = 160 elements of 2 B: 320 B per GPU (2 x 1/2); the loss 4 and 8 B for each of 10 tokens.
      EXPECT_EQ(bytes_over(graph, ""), micro_batches * 2 * (collectives * 320 + 120));
    }
  }
}

TEST(Lower, AnIterationOfDataIsComputationThenAllReduceThenAdam) {
  // 2 GPUs, 2 sequences each in 2 micro-batches: 2 x 3 s, and the second one's gradients added to the first one's: 3 x 2000 B
  // at 200 B/s, 30 s. Gradients of 1000 parameters: 2 steps of 1000 B at 100 B/s: 20 s. Adam: 1000 x (2 + 4 + 8 read, 4 + 8 + 2 written) = 28000 B at 200 B/s: 140 s.
  Scenario scenario = small_scenario(1, 2, 100);
  scenario.training.batch = 4;
  const OperatorGraph operators = chain(1, 1000);
  Plan plan;
  plan.micro_batches = 2;
  plan.stages = {batch_stage(0, 1, {0, 1})};
  EXPECT_NEAR(end_of(plan, operators, scenario), 6 + 30 + 20 + 140, kClock);
  scenario.software.caching_allocator = false;  // XLA: products add to the sum
  EXPECT_NEAR(end_of(plan, operators, scenario), 6 + 20 + 140, kClock);

  // ZeRO-2: reduce-scatter 10 s, half of Adam 70 s, all-gather 10 s.
  plan.by = OperatorPlan{.optimizer = Optimizer::kDivided};
  EXPECT_NEAR(end_of(plan, operators, scenario), 6 + 10 + 70 + 10, kClock);
}

TEST(Lower, AnAllReduceWaitsForTheSlowestGpu) {
  // GPU 0 is ten times slower: it computes 30 s, the others 3 s. Then 6 steps of 2000 / 4 = 500 B at 100 B/s:
  // until 60 s. Then GPU 0's Adam: 28000 B at 20 B/s.
  Scenario scenario = small_scenario(1, 4, 100);
  scenario.training.batch = 4;
  Gpu& slow = scenario.platform.devices[0].gpu;
  slow.name = "slow";
  slow.memory_bandwidth = BytesPerSecond{20};
  Plan plan;
  plan.stages = {batch_stage(0, 1, {0, 1, 2, 3})};
  EXPECT_NEAR(end_of(plan, chain(1, 1000), scenario), 60 + 1400, kClock);
}

TEST(Lower, LaunchingAndControlMessagesComeFirst) {
  // 1.5 s to launch, 3 control round trips of 2 x 4 s between the two sites, and 3 s of work.
  Scenario scenario = small_scenario(2, 1);
  for (auto& link : scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{4};
  scenario.training.batch = 2;
  scenario.training.iteration_overhead = Seconds{1.5};
  scenario.training.control_round_trips = 3;
  Plan plan;
  plan.stages = {batch_stage(0, 1, {0, 1})};
  EXPECT_NEAR(end_of(plan, chain(1), scenario), 1.5 + 24 + 3, kClock);
}

TEST(Lower, IterationsOfOneGraphFollowOneAnother) {
  Scenario scenario = small_scenario(1, 2, 100);
  scenario.training.batch = 2;
  Plan plan;
  plan.technique = named("Data");
  plan.stages = {batch_stage(0, 1, {0, 1})};
  const OperatorGraph operators = chain(1, 1000);
  const TaskGraph three = repeated(lowered(plan, operators, scenario), 3);
  EXPECT_NEAR(simulate(three).end.value, 3 * (3 + 20 + 140), kClock);
  EXPECT_EQ(bytes_over(three, ""), 3 * 2 * 2000);
}

TEST(Lower, EveryGpuPairOfNeighbouringStagesCarriesItsPartOfTheActivations) {
  // 2 stages of 2 GPUs, divided by sequences: 4 sequences x 50 elements x 2 B = 400 B per direction, half of
  // it per pair, per micro-batch.
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = 8;
  Plan plan;
  plan.micro_batches = 2;
  plan.stages = {batch_stage(0, 1, {0, 1}), batch_stage(1, 2, {2, 3})};
  const TaskGraph graph = lowered(plan, chain(2), scenario);
  EXPECT_EQ(count_of(graph, "send act"), 4);
  EXPECT_EQ(bytes_over(graph, "send act", "wan:a->b"), 800);
  EXPECT_EQ(bytes_over(graph, "send grad", "wan:b->a"), 800);
  EXPECT_EQ(bytes_over(graph, "send", "pcie:a/0:out"), 400);
  EXPECT_EQ(bytes_over(graph, "all-gather"), 0);
}

TEST(Lower, AStageThatNeedsAllActivationsOnEveryGpuGathersThem) {
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = 4;
  Plan plan;
  plan.stages = {batch_stage(0, 1, {0, 1}), batch_stage(1, 2, {2, 3})};
  plan.stages[1].shardings = {Sharding::kReplicated};
  const TaskGraph graph = lowered(plan, chain(2), scenario);
  EXPECT_EQ(bytes_over(graph, "send act", "wan"), 400);
  EXPECT_EQ(bytes_over(graph, "all-gather send act"), 400);  // 1/2 x 400 B from each of 2 GPUs
}

TEST(StageProgram, TimesGpusOfOneNameByTheirOwnFigures) {
  // 1 s forward for a sequence at 200 B/s of memory; the second GPU has half of that: 2 s.
  Scenario scenario = small_scenario(1, 2);
  scenario.platform.devices[1].gpu.memory_bandwidth = BytesPerSecond{100};
  const OperatorGraph operators = chain(1);
  const StageProgram program = stage_program(operators, batch_stage(0, 1, {0, 1}), 2, Recompute::kNone, scenario);
  ASSERT_EQ(program.forward.size(), 1);
  EXPECT_DOUBLE_EQ(program.forward[0].time[0].value, 1);
  EXPECT_DOUBLE_EQ(program.forward[0].time[1].value, 2);
}

}  // namespace
}  // namespace slmsim::lower_test
