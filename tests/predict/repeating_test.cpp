// Extrapolation from few micro-batches to many: the same as simulating all of them.
#include "sim/predict/repeating.h"

#include <gtest/gtest.h>

#include "tests/predict/many_micro_batches.h"
#include "tests/word_name.h"

namespace slmsim::repeating_test {
namespace {

using many_micro_batches::Case;

constexpr double kRounding = 1e-8;  // of sums that are counted on a hundred times

class Repeating : public testing::TestWithParam<Case> {};

TEST_P(Repeating, SaysWhatAllMicroBatchesSay) {
  const Scenario scenario = scenario_of(GetParam());
  const Prediction few = predict(scenario, {.ignore_memory = true}).front(),
                   all = predict(scenario, {.whole = true, .ignore_memory = true}).front();
  expect_times_of(all, few, kRounding);
}

TEST_P(Repeating, LinksCarryWhatAllMicroBatchesSend) {
  const Scenario scenario = scenario_of(GetParam());
  const Prediction few = predict(scenario, {.links = true, .ignore_memory = true}).front(),
                   all = predict(scenario, {.links = true, .whole = true, .ignore_memory = true}).front();
  expect_links_of(all, few, kRounding);
}

TEST_P(Repeating, CountsOnWhereItMay) {
  const Scenario scenario = scenario_of(GetParam());
  Colouring alike;
  const auto counted = simulate_repeating(PlanInputs(scenario).request, alike);
  EXPECT_TRUE(counted.has_value() || !GetParam().counts);
}

INSTANTIATE_TEST_SUITE_P(Plans, Repeating, testing::ValuesIn(many_micro_batches::cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::repeating_test
