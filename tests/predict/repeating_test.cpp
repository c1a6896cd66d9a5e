// Extrapolation from few micro-batches to many: the same as simulating all of them.
#include "sim/predict/repeating.h"

#include <gtest/gtest.h>

#include "sim/predict/alike.h"
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

// The exchange is most of the tasks, and each sample has it.
TEST(Samples, AreNotTakenWhereTheyHaveAsManyTasks) {
  const Scenario scenario = many_micro_batches::scenario_of(
      {"", "Megatron: {tensor: 1, pipeline: 1, data: 32, micro_batches: 32}", many_micro_batches::kNodes, 1024});
  Colouring alike;
  EXPECT_FALSE(simulate_repeating(PlanInputs(scenario).request, alike).has_value());
}

TEST(Accumulation, AddsNoTaskByMicroBatchesThatExchangeNothing) {
  for (const char* technique :
       {"DDP: {no_sync: yes, micro_batches: ", "ZeRO-1: {micro_batches: ", "LocalSGD: {micro_batches: "}) {
    std::vector<std::size_t> tasks;
    for (const char* count : {"2", "64"}) {
      const Scenario scenario =
          many_micro_batches::scenario_of({"", fmt::format("{}{}}}", technique, count), many_micro_batches::kFour});
      tasks.push_back(lower_alike(PlanInputs(scenario).request).graph.tasks().size());
    }
    EXPECT_EQ(tasks.front(), tasks.back()) << technique;
  }
}

// Micro-batches that meet losses are alike in their mean only, which 32 losses tell within 4 %.
constexpr double kOfWhole = 0.005, kOfMean = 0.04, kOfCompute = 1e-5;

class Lossy : public testing::TestWithParam<Case> {};

TEST_P(Lossy, RoundsTakeTheMeanOfAFew) {
  const Scenario scenario = scenario_of(GetParam());
  Colouring alike;
  ASSERT_TRUE(simulate_repeating(PlanInputs(scenario).request, alike).has_value());
  const Prediction few = predict(scenario, {.links = true, .ignore_memory = true}).front(),
                   all = predict(scenario, {.links = true, .whole = true, .ignore_memory = true}).front();
  EXPECT_GT(few.spread, kOfWhole);
  EXPECT_NEAR(few.iteration / all.iteration, 1, kOfMean);
  EXPECT_NEAR(few.first_iteration / all.first_iteration, 1, kOfMean);
  EXPECT_NEAR(few.breakdown.compute / all.breakdown.compute, 1, kOfCompute);
  ASSERT_EQ(few.links.size(), all.links.size());
  for (std::size_t i = 0; i < all.links.size(); ++i) {
    EXPECT_EQ(few.links[i].link, all.links[i].link);
    EXPECT_NEAR(few.links[i].bytes / all.links[i].bytes, 1, kRounding) << all.links[i].link;
  }
}

std::vector<Case> lossy_cases() {
  std::vector<Case> out;
  for (const char* loss : {"0.0003", "0.001", "0.003"}) {
    std::string far = many_micro_batches::kFar;
    far.insert(far.rfind('}') - 1, fmt::format(", loss: {}", loss));
    for (const char* technique : {"FSDP", "ZeRO-3", "Shard"})
      out.push_back(
          {fmt::format("{}Loses{}", technique, loss), fmt::format("{}: {{micro_batches: 256}}", technique), far, 1024});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Plans, Lossy, testing::ValuesIn(lossy_cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::repeating_test
