// Predictions with collectives as single tasks, and with one micro-batch's passes for all, against all tasks of real plans.
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/iterations.h"
#include "sim/predict/predict.h"
#include "tests/word_name.h"

namespace slmsim::ring_calls_test {
namespace {

class RingCalls : public testing::TestWithParam<const char*> {};

TEST_P(RingCalls, ChangeNoTimeAndNoBreakdown) {
  const Scenario scenario =
      load_scenario(std::string(SLMSIM_SOURCE_DIR "/scenarios/") + GetParam() + ".yaml", {"models=gpt2m"});
  const OperatorGraph operators = build_operator_graph(scenario.models.front());
  const Network network(scenario.platform);
  int taken = 0, fewer = 0;
  for (const auto& p : predict(scenario)) {
    if (!p.plan) continue;
    SCOPED_TRACE(std::string(p.technique->name) + " on " + group_text(p.group));
    const bool pipeline = p.plan->stages.size() > 1;
    LowerRequest request{*p.plan, operators, scenario, network};
    const TaskGraph whole = p.technique->lower(request).graph;
    const IterationTimes by_task = simulate_iterations(whole, {.record_flows = true});
    for (const bool as_one : {false, true}) {
      request.labels = false;
      request.ring_calls = as_one;
      const TaskGraph graph = p.technique->lower(request).graph;
      const IterationTimes times = simulate_iterations(graph, {.record_flows = true});
      EXPECT_TRUE(as_one || !times.times.empty());
      if (times.times.empty()) continue;
      taken += as_one ? 1 : 0;
      fewer += 2 * graph.tasks().size() < whole.tasks().size() ? 1 : 0;
      EXPECT_EQ(times.times, by_task.times);
      EXPECT_EQ(times.before_last, by_task.before_last);
      EXPECT_EQ(times.last.connections, by_task.last.connections);
      const Breakdown a = break_down(graph, times.last, pipeline), b = break_down(whole, by_task.last, pipeline);
      const double rounding = 1e-9 * by_task.steady().value;  // sums in another order
      EXPECT_EQ(a.compute, b.compute);
      EXPECT_EQ(a.optimizer, b.optimizer);
      EXPECT_NEAR(a.exposed_communication.value, b.exposed_communication.value, rounding);
      EXPECT_NEAR(a.pipeline_bubble.value, b.pipeline_bubble.value, rounding);
      const auto use = link_use(graph, times.last), known = link_use(whole, by_task.last);
      ASSERT_EQ(use.size(), known.size());
      for (std::size_t i = 0; i < use.size(); ++i) {
        EXPECT_EQ(use[i].link, known[i].link);
        EXPECT_NEAR(use[i].bytes.value, known[i].bytes.value, 1e-9 * known[i].bytes.value);
        EXPECT_NEAR(use[i].peak.value, known[i].peak.value, 1e-9 * known[i].peak.value);
      }
    }
  }
  EXPECT_GT(taken, 6);
  EXPECT_GT(fewer, 3);
}

INSTANTIATE_TEST_SUITE_P(All, RingCalls, testing::Values("gat-amst", "bris-star", "tacc-tacc", "utah-gpn"),
                         [](const auto& one) { return word_name(one.param); });

}  // namespace
}  // namespace slmsim::ring_calls_test
