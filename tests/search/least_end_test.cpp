// Bounds of an iteration: by hand, and from few of its micro-batches.
#include <array>

#include <gtest/gtest.h>

#include "sim/predict/predict.h"
#include "sim/search/bound.h"
#include "tests/predict/many_micro_batches.h"
#include "tests/word_name.h"

namespace slmsim::least_end_test {
namespace {

using many_micro_batches::Case;

constexpr double kRounding = 1e-9;

TEST(LeastEnd, IsTheLongestWayAndNoLessThanALinksBytes) {
  // 1 s of computing, then 200 B at 100 B/s and 0.5 s of latency: 3.5 s. A second transfer of 400 B from the start, over the
  // same link: together 600 B take 6 s.
  TaskGraph graph({{"l", BytesPerSecond{100}}}, 2);
  const int connection = graph.add_connection({0, 1, 1, {{0}, Seconds{0.5}, BytesPerSecond{0}}});
  const TaskId first = graph.compute(0, Seconds{1}, graph.tag({"a", TaskClass::kForward}), {});
  graph.transfer(connection, Bytes{200}, graph.tag({.name = "b"}), std::array{first});
  EXPECT_DOUBLE_EQ(least_end(graph).value, 3.5);
  graph.transfer(connection, Bytes{400}, graph.tag({.name = "c"}), {});
  EXPECT_DOUBLE_EQ(least_end(graph).value, 6);
}

TEST(LeastEnd, WaitsForTheWindow) {
  // 250 B with a window of 100 B: 100 leave at once, the next after a round trip of 2 s, the last 50 after another.
  TaskGraph graph({{"l", BytesPerSecond{1e9}}}, 2);
  Route route{{0}, Seconds{1}, BytesPerSecond{0}};
  route.windowed = true;
  route.window.steady = Bytes{50};
  route.window.rtt = Seconds{2};
  const int connection = graph.add_connection({0, 1, 2, route});
  graph.transfer(connection, Bytes{250}, graph.tag({.name = "a"}), {});
  EXPECT_DOUBLE_EQ(least_end(graph).value, 2 * 2 + 1);
}

class LeastIterationOf : public testing::TestWithParam<Case> {};

TEST_P(LeastIterationOf, FewMicroBatchesIsNotAboveASimulationAndHardlyBelowTheLeastEndOfAll) {
  const Scenario scenario = scenario_of(GetParam());
  const PlanInputs planned(scenario);
  const LeastIteration least = least_iteration(planned.request);
  const Prediction all = predict(scenario, {.whole = true, .ignore_memory = true}).front();
  const double steps = planned.plan.workload.steps;
  EXPECT_LE(least.end.value, steps * all.iteration.value * (1 + kRounding));
  EXPECT_LE(least.end.value, steps * all.first_iteration.value * (1 + kRounding));
  const TaskGraph whole = planned.plan.technique->lower(planned.request).graph;
  EXPECT_GE(least.end.value, 0.85 * least_end(whole).value);
  EXPECT_LE(least.tasks, static_cast<double>(whole.tasks().size()));
}

INSTANTIATE_TEST_SUITE_P(Plans, LeastIterationOf, testing::ValuesIn(many_micro_batches::cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::least_end_test
