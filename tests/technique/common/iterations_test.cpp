// Iterations one by one, each meeting the connections as its predecessor left them, against the same
// iterations as one graph.
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "tests/named.h"
#include "tests/small_world.h"
#include "tests/word_name.h"

namespace slmsim::iterations_test {
namespace {

class OneGraph : public testing::TestWithParam<const Technique*> {};

TEST_P(OneGraph, EndsAtTheSumOfItsIterationsOneByOne) {
  const Scenario scenario =
      load_scenario(std::string(SLMSIM_SOURCE_DIR) + "/scenarios/gat-amst.yaml", {"models=[gpt2m]"});
  const Transformer& model = scenario.models.front();
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options;
  for (const auto& technique : scenario.techniques)
    if (technique.technique == GetParam()) options = technique;
  ASSERT_EQ(options.technique, GetParam());
  const Plan plan = plan_of(scenario, model, operators, options);

  const TaskGraph one = lowered(plan, operators, scenario);
  double sum = 0;
  std::vector<ConnectionState> state;
  for (int i = 0; i < 3; ++i) {
    const Timeline timeline = simulate(one, state);
    sum += timeline.end.value;
    state = timeline.connections;
  }
  const double together = simulate(repeated(one, 3)).end.value;
  EXPECT_NEAR(together, sum, 1e-9 * sum);  // the engine's clock is a double
}

INSTANTIATE_TEST_SUITE_P(Techniques, OneGraph, testing::Values(named("Data"), named("Pipeshard")),
                         [](const auto& tested) { return word_name(tested.param->name); });

}  // namespace
}  // namespace slmsim::iterations_test
