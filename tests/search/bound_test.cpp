// Bounds of an iteration from few of its micro-batches.
#include "sim/search/bound.h"

#include <gtest/gtest.h>

#include "sim/predict/predict.h"
#include "tests/predict/many_micro_batches.h"
#include "tests/small_world.h"
#include "tests/word_name.h"

namespace slmsim {
namespace {

using many_micro_batches::Case;

constexpr double kRounding = 1e-9;

class LeastIterationOf : public testing::TestWithParam<Case> {};

TEST_P(LeastIterationOf, FewMicroBatchesIsNotAboveASimulationAndHardlyBelowTheLeastEndOfAll) {
  const Scenario scenario = scenario_of(GetParam());
  const OperatorGraph operators = build_operator_graph(scenario.models.front());
  const Network network(scenario.platform);
  const Plan plan = plan_of(scenario, scenario.models.front(), operators, scenario.techniques.front());
  const LowerRequest request{plan, operators, scenario, network};
  const LeastIteration least = least_iteration(request);
  const Prediction all = predict(scenario, {.whole = true, .ignore_memory = true}).front();
  EXPECT_LE(least.end.value, all.iteration.value * (1 + kRounding));
  EXPECT_LE(least.end.value, all.first_iteration.value * (1 + kRounding));
  const TaskGraph whole = plan.technique->lower(request).graph;
  EXPECT_GE(least.end.value, 0.9 * least_end(whole).value);
  EXPECT_LE(least.tasks, static_cast<double>(whole.tasks().size()));
}

INSTANTIATE_TEST_SUITE_P(Plans, LeastIterationOf, testing::ValuesIn(many_micro_batches::cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim
