// How layers are cut into stages of equal work.
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::cuts_test {
namespace {

// Layers per stage of a pipeline over `stages` GPUs.
std::vector<int> cut(Transformer model, int stages) {
  Scenario scenario = small_scenario(1, stages);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(named("Pipeshard"), 1);
  options.set(kStages, stages);
  const Plan plan = plan_of(scenario, model, operators, options);
  EXPECT_EQ(plan.stages.front().first, 0u);
  EXPECT_EQ(plan.stages.back().last, boost::num_vertices(operators));
  std::vector<int> layers;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    if (s > 0) {
      EXPECT_EQ(stage.first, plan.stages[s - 1].last);
    }
    int count = 0;
    for (std::size_t v = stage.first; v < stage.last; ++v) count += operators[v].role == Role::kAttentionNorm;
    layers.push_back(count);
  }
  return layers;
}

// A layer of small_model: 24 S h^2 + 4 S^2 h = 67840 FLOPs; its head: 2 S h V with V = 100: 32000.
double head_in_layers(double vocabulary) { return 2 * 10 * 16 * vocabulary / 67840; }

TEST(Cuts, LayersAreCutEvenlyWhereTheHeadWeighsLittle) {
  Transformer model = small_model(4);
  model.vocabulary = 1;
  EXPECT_EQ(cut(model, 2), (std::vector<int>{2, 2}));
  EXPECT_EQ(cut(model, 4), (std::vector<int>{1, 1, 1, 1}));
}

TEST(Cuts, AHeavyHeadTakesLayersFromItsStage) {
  // V = 848: the head is 2 S h V = 271360 FLOPs = 4 layers. 6 layers on 2 stages: 5 and 1 + 4.
  EXPECT_EQ(head_in_layers(848), 4);
  Transformer model = small_model(6);
  model.vocabulary = 848;
  EXPECT_EQ(cut(model, 2), (std::vector<int>{5, 1}));
}

TEST(Cuts, TheHeaviestStageIsAsLightAsAnyCutMakesIt) {
  for (const int layers : {3, 5, 7, 8}) {
    for (const int vocabulary : {1, 100, 424, 1000}) {
      Transformer model = small_model(layers);
      model.vocabulary = vocabulary;
      const double head = head_in_layers(vocabulary);
      // Every way to cut the layers into 3 stages with at least one each.
      double best = 1e9;
      for (int a = 1; a < layers - 1; ++a) {
        for (int b = 1; a + b < layers; ++b) best = std::min(best, std::max({1.0 * a, 1.0 * b, layers - a - b + head}));
      }
      const auto chosen = cut(model, 3);
      EXPECT_DOUBLE_EQ(std::max({1.0 * chosen[0], 1.0 * chosen[1], chosen[2] + head}), best)
          << layers << " layers, vocabulary " << vocabulary;
    }
  }
}

}  // namespace
}  // namespace slmsim::cuts_test
