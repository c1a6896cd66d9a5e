#include "sim/predict/max_model.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"

namespace slmsim::max_model_test {
namespace {

TEST(MaxModel, AnswersAreTheSameOnSeveralThreadsAndInTheOrderOfPredictions) {
  const Scenario scenario = load_scenario(std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios/gat-amst.yaml");
  const auto one = largest_models(scenario), several = largest_models(scenario, nullptr, 4);
  ASSERT_EQ(one.size(), scenario.models.size() * scenario.groups.size() * scenario.techniques.size());
  ASSERT_EQ(several.size(), one.size());
  std::size_t i = 0;
  for (const auto& model : scenario.models) {
    for (const auto& group : scenario.groups) {
      for (const auto& options : scenario.techniques) {
        for (const auto& largest : {one[i], several[i]}) {
          EXPECT_EQ(largest.model, model.name);
          EXPECT_EQ(largest.group, group.names);
          EXPECT_EQ(largest.technique, options.technique);
          EXPECT_EQ(largest.layers, one[i].layers);
          EXPECT_EQ(largest.limit, one[i].limit);
          EXPECT_GT(largest.layers, 0);
        }
        ++i;
      }
    }
  }
}

}  // namespace
}  // namespace slmsim::max_model_test
