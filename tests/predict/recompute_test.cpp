// Recomputation by each technique, which trades time for memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/predict/predict.h"
#include "tests/word_name.h"

namespace slmsim::recompute_test {
namespace {

class EachTechnique : public testing::TestWithParam<const Technique*> {};

// On a node of four A100 whose volumes hold what techniques put on drives. The words of a scenario's own option hold over
// training.rematerialisation.
Prediction of(const char* technique, const char* recompute, bool rematerialisation = false) {
  // Without copies of gradients for the step, so that the passes need most.
  std::vector<std::string> overrides = {"models.0.layers=8", "training.epochs=200",
                                        "software.framework.gradient_copies=0",
                                        fmt::format("techniques={{{}: {{recompute: {}}}}}", technique, recompute),
                                        fmt::format("training.rematerialisation={}", rematerialisation ? "yes" : "no")};
  const Scenario scenario = load_scenario(SLMSIM_SOURCE_DIR "/scenarios/xe8545-1.yaml", overrides);
  return predict(scenario, {.ignore_memory = true}).front();
}

TEST_P(EachTechnique, GivesTimeForMemory) {
  const char* name = GetParam()->name;
  const Prediction none = of(name, "none"), core = of(name, "selective"), full = of(name, "full");
  ASSERT_EQ(none.status, Status::kOk) << none.reason;
  const auto activations = [](const Prediction& p) { return fullest(p.memory)->activations; };
  EXPECT_GT(activations(none), activations(core));
  EXPECT_GT(activations(core), activations(full));
  // Where drives are behind, computing hides beside them.
  EXPECT_LE(none.iteration, core.iteration);
  EXPECT_LE(core.iteration, full.iteration);
  EXPECT_EQ(of(name, "none", true).iteration, none.iteration);
  const Prediction by_operators = of(name, "operators");
  if (std::string(name) == "Megatron") {
    EXPECT_NE(by_operators.status, Status::kOk);
    EXPECT_THAT(by_operators.reason, testing::HasSubstr("Megatron-LM has none, selective and full"));
    return;
  }
  EXPECT_GT(activations(none), activations(by_operators));
  EXPECT_GT(activations(by_operators), activations(full));
  EXPECT_LE(none.iteration, by_operators.iteration);
  EXPECT_LE(by_operators.iteration, full.iteration);
}

INSTANTIATE_TEST_SUITE_P(Techniques, EachTechnique, testing::ValuesIn(technique_table()),
                         [](const auto& tested) { return word_name(tested.param->name); });

}  // namespace
}  // namespace slmsim::recompute_test
