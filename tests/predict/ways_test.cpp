// Rates of progressive filling against SimGrid's on the graphs of real plans.
#include <gtest/gtest.h>

#include "sim/predict/predict.h"
#include "tests/word_name.h"

namespace slmsim::ways_test {
namespace {

class Ways : public testing::TestWithParam<const char*> {
 protected:
  template <class Compare>
  void for_each_plan(Compare compare) const {
    const Scenario scenario =
        load_scenario(std::string(SLMSIM_SOURCE_DIR "/scenarios/") + GetParam() + ".yaml", {"models=gpt2m"});
    int plans = 0;
    for (const auto& prediction : predict(scenario)) {
      if (!prediction.plan) continue;
      SCOPED_TRACE(std::string(prediction.technique->name) + " on " + group_text(prediction.group));
      compare(iteration_graph(scenario, scenario.models.front(), *prediction.plan));
      ++plans;
    }
    EXPECT_EQ(plans, 12);
  }
};

TEST_P(Ways, ProgressiveFillingAgreesWithSimgrid) {
  for_each_plan([](const TaskGraph& graph) {
    const double by_filling = simulate(graph).end.value;
    EXPECT_NEAR(by_filling, simulate(graph, {}, {.always_engine = true}).end.value, 1e-5 * by_filling);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Ways, testing::Values("gat-amst", "bris-star", "tacc-tacc", "utah-mass", "utah-gpn"),
                         [](const auto& one) { return word_name(one.param); });

}  // namespace
}  // namespace slmsim::ways_test
