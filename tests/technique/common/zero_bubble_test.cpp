// Schedules beside 1F1B and GPipe: gradients of weights apart, and more forward passes in flight.
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "tests/small_world.h"

namespace slmsim::zero_bubble_test {
namespace {

std::string order(const Plan& plan, std::size_t stage) {
  std::string text;
  for (const Step& step : schedule_steps(plan, stage, plan.micro_batches)) {
    text += text.empty() ? "" : " ";
    text += (step.weights ? "W" : step.forward ? "F" : "B") + std::to_string(step.micro_batch);
  }
  return text;
}

// Products of 10 x 10 x 10: 300 elements of 2 B at 200 B/s, so that forward pass, inputs' and weights' gradients take 3 s each.
OperatorGraph products(int layers) {
  OperatorGraph graph;
  for (int layer = 0; layer < layers; ++layer) {
    Operator op{.kind = OperatorKind::kMatrix, .role = Role::kMlpUp, .layer = layer, .parameters = 100, .weights = 100};
    op.matrix = {.batch = 1, .m = 10, .n = 10, .k = 10};
    op.inputs = op.outputs = op.saved_elements = 100;
    boost::add_vertex(op, graph);
  }
  return graph;
}

Scenario scenario_of(int stages, int micro_batches, double latency = 0) {
  Scenario scenario = small_scenario(1, stages, 1e15, latency);
  scenario.training.batch = micro_batches;
  scenario.software.caching_allocator = false;  // no kernel adds gradients to those of other micro-batches
  for (auto& device : scenario.platform.devices) device.gpu.memory_bandwidth = BytesPerSecond{200};
  return scenario;
}

// Without Adam, whose time is the same whatever the schedule.
double time_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  TaskGraph graph = lowered(plan, operators, scenario);
  graph.scale(TaskClass::kOptimizer, 0);
  return simulate(graph).end.value;
}

TEST(ZeroBubble, DelaysTheGradientsOfWeightsByTheStage) {
  // ZB-H1 of 3 stages and 4 micro-batches (arXiv 2401.10241, figure 2).
  const Plan plan = pipeline(3, 4, Schedule::kZeroBubble);
  EXPECT_EQ(order(plan, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(order(plan, 1), "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3");
  EXPECT_EQ(order(plan, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

TEST(ZeroBubble, HasTheBubbleOfItsPaper) {
  // (p - 1)(F + B - W) beside m (F + B + W), with 3 s each; of 1F1B (p - 1)(F + B + W).
  for (int p = 2; p <= 5; ++p) {
    for (int m = p; m <= 2 * p + 1; ++m) {
      const Scenario scenario = scenario_of(p, m);
      EXPECT_NEAR(time_of(pipeline(p, m, Schedule::kZeroBubble), products(p), scenario), m * 9 + (p - 1) * 3, kClock);
      EXPECT_NEAR(time_of(pipeline(p, m), products(p), scenario), m * 9 + (p - 1) * 9, kClock);
    }
  }
}

TEST(ZeroBubble, ComputesAsMuchAsOneForwardOneBackward) {
  const Scenario scenario = scenario_of(3, 4);
  double flops[2] = {0, 0};
  for (const bool apart : {false, true}) {
    const auto schedule = apart ? Schedule::kZeroBubble : Schedule::kOneForwardOneBackward;
    const TaskGraph graph = lowered(pipeline(3, 4, schedule), products(3), scenario);
    for (TaskId id = 0; id < graph.tasks().size(); ++id) flops[apart] += graph.work(id).products.value;
  }
  EXPECT_DOUBLE_EQ(flops[0], flops[1]);
  EXPECT_DOUBLE_EQ(flops[0], 3 * 4 * 3 * 2000);  // stages x micro-batches x products of 2 x 10 x 10 x 10
}

TEST(ZeroBubble, KeepsWhatTheGradientsOfWeightsNeed) {
  // Inputs and outputs' gradients, 200 elements of 2 B, of one micro-batch per stage in front.
  const Scenario scenario = scenario_of(4, 8);
  const auto apart = memory_by_operators(pipeline(4, 8, Schedule::kZeroBubble), products(4), scenario);
  const auto usual = memory_by_operators(pipeline(4, 8), products(4), scenario);
  for (std::size_t s = 0; s < 4; ++s)
    EXPECT_DOUBLE_EQ((apart[s].activations - usual[s].activations).value, 400.0 * static_cast<double>(s));
}

Plan ahead(int stages, int micro_batches, int more) {
  Plan plan = pipeline(stages, micro_batches);
  plan.by = OperatorPlan{.ahead = more};
  return plan;
}

TEST(Ahead, KeepsMoreForwardPassesInFlight) {
  // Alpa's 1f1b_overlap_friendly: 2 (p - s) - 1.
  EXPECT_EQ(order(ahead(3, 6, 1), 0), "F0 F1 F2 F3 F4 B0 F5 B1 B2 B3 B4 B5");
  EXPECT_EQ(order(ahead(3, 6, 1), 1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  EXPECT_EQ(order(ahead(3, 6, 1), 2), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
  EXPECT_EQ(micro_batches_in_flight(Schedule::kOneForwardOneBackward, 8, 4, 1, 1), 5);
  EXPECT_EQ(micro_batches_in_flight(Schedule::kOneForwardOneBackward, 4, 4, 1, 1), 4);
}

TEST(Ahead, HidesALongerLatency) {
  // 2 stages of 1 + 2 s, 4 micro-batches, 5 s of latency: 1F1B takes 35 s and GPipe 25 s (schedule_test.cpp). With one more in
  // flight: s0 F0-F2 0-3; s1 F0 6-7, B0 7-9, F1 9-10, B1 10-12, F2 12-13, B2 13-15; s0 B0 14-16, F3 16-17, B1 17-19,
  // B2 20-22; s1 F3 22-23, B3 23-25; s0 B3 30-32.
  EXPECT_NEAR(end_of(ahead(2, 4, 1), chain(2), scenario_of(2, 4, 5)), 32, kClock);
  EXPECT_NEAR(end_of(ahead(2, 4, 0), chain(2), scenario_of(2, 4, 5)), 35, kClock);
  EXPECT_NEAR(end_of(ahead(2, 4, 2), chain(2), scenario_of(2, 4, 5)), 25, kClock);
}

TEST(Ahead, CostsActivations) {
  const Scenario scenario = scenario_of(2, 4);
  const auto usual = memory_by_operators(ahead(2, 4, 0), chain(2), scenario);
  const auto more = memory_by_operators(ahead(2, 4, 1), chain(2), scenario);
  EXPECT_DOUBLE_EQ(more[0].activations.value, usual[0].activations.value * 3 / 2);  // 3 in flight in place of 2
  EXPECT_DOUBLE_EQ(more[1].activations.value, usual[1].activations.value);
}

}  // namespace
}  // namespace slmsim::zero_bubble_test
