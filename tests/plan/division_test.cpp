// How operators are divided over a mesh, against all sequences of strategies; and how layers are cut into
// stages.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "sim/plan/intra_operator.h"
#include "tests/plan/small_world.h"

namespace slmsim {
namespace {

TEST(AlpaCost, FollowsAlpasFormulas) {
  EXPECT_DOUBLE_EQ(alpa_all_gather_cost(1000, 4), 1 + 750 + 0.1);    // a + b (n-1)/n x + 0.1
  EXPECT_DOUBLE_EQ(alpa_all_reduce_cost(1000, 4), 1 + 1500 + 0.01);  // a + 2 b (n-1)/n x + 0.01
}

// The blocks of small_model by hand: S = 10, h = 16, untied. Each block's weights and, for tensor
// division, its all-reduced elements per sequence.
struct Block {
  double weights = 0;
  std::vector<double> reduced;
};

std::vector<Block> blocks_of_small_model(int layers, int vocabulary) {
  const double tokens = 160;  // S h
  // (V + S) h; the embedding's output.
  std::vector<Block> blocks = {{16.0 * (vocabulary + 10), {tokens}}};
  for (int i = 0; i < layers; ++i)
    blocks.push_back({3280, {tokens, tokens, tokens, tokens}});  // qkv, projection, mlp up, mlp down
  blocks.push_back({16.0 * vocabulary + 32, {tokens}});          // head V h, final norm 2 h; the head's input
  return blocks;
}

struct Case {
  int gpus = 4;
  double sequences = 4;
  int micro_batches = 1;
  double gradient_bytes = 2;
};

double cost(const std::vector<Block>& blocks, const std::vector<bool>& batch, const Case& c) {
  double sum = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (batch[i]) {
      sum += alpa_all_reduce_cost(blocks[i].weights * c.gradient_bytes, c.gpus);
    } else {
      for (const double elements : blocks[i].reduced)
        sum += c.micro_batches * alpa_all_reduce_cost(elements * c.sequences * 2, c.gpus);
    }
    if (i > 0 && batch[i] != batch[i - 1]) sum += c.micro_batches * alpa_all_gather_cost(160 * c.sequences * 2, c.gpus);
  }
  return sum;
}

double cheapest_of_all(const std::vector<Block>& blocks, const Case& c) {
  double best = std::numeric_limits<double>::infinity();
  for (unsigned mask = 0; mask < (1u << blocks.size()); ++mask) {
    std::vector<bool> batch;
    for (std::size_t i = 0; i < blocks.size(); ++i) batch.push_back((mask >> i) & 1u);
    best = std::min(best, cost(blocks, batch, c));
  }
  return best;
}

std::vector<Sharding> divide(const OperatorGraph& operators, const Case& c) {
  return divide_operators(
      {operators, 0, boost::num_vertices(operators), c.gpus, c.sequences, c.micro_batches, 2, c.gradient_bytes});
}

// Per block, whether its operators are divided by sequences.
std::vector<bool> batch_blocks(const OperatorGraph& operators, const std::vector<Sharding>& shardings) {
  std::vector<bool> batch;
  for (std::size_t v = 0; v < shardings.size(); ++v) {
    const bool is_batch = shardings[v] == Sharding::kBatch;
    if (v == 0 || operators[v].layer != operators[v - 1].layer) batch.push_back(is_batch);
    EXPECT_EQ(is_batch, batch.back()) << "a block is divided in one way";
  }
  return batch;
}

TEST(Division, TheChosenStrategiesAreTheCheapestOfAllSequences) {
  int batches = 0, tensors = 0, mixed = 0;
  for (const int vocabulary : {100, 1000, 5000}) {
    Transformer model = small_model(3, false);
    model.vocabulary = vocabulary;
    const OperatorGraph operators = build_operator_graph(model);
    const auto blocks = blocks_of_small_model(3, vocabulary);
    for (const int gpus : {2, 4}) {
      for (const double sequences : {4.0, 8.0, 16.0, 32.0}) {
        for (const int micro_batches : {1, 2, 8}) {
          for (const double gradient_bytes : {0.5, 2.0, 4.0, 16.0, 64.0}) {
            const Case c{gpus, sequences, micro_batches, gradient_bytes};
            const auto batch = batch_blocks(operators, divide(operators, c));
            ASSERT_EQ(batch.size(), blocks.size());
            EXPECT_DOUBLE_EQ(cost(blocks, batch, c), cheapest_of_all(blocks, c));
            const auto count = std::count(batch.begin(), batch.end(), true);
            ++(count == 5 ? batches : count == 0 ? tensors : mixed);
          }
        }
      }
    }
  }
  EXPECT_GT(batches, 0);
  EXPECT_GT(tensors, 0);
  EXPECT_GT(mixed, 0);  // else the costs of resharding were never weighed
}

TEST(Division, CheapGradientsChooseBatchAndDearOnesTensor) {
  const OperatorGraph operators = build_operator_graph(small_model(3, false));
  // Layer: gradients 3280 x 2 = 6560 B once, or 4 x 160 x 4 x 2 = 5120 B per micro-batch.
  EXPECT_EQ(batch_blocks(operators, divide(operators, {4, 4, 8, 2})), std::vector<bool>(5, true));
  // Gradients of 64 B per parameter against one micro-batch: 209920 B against 5120 B.
  EXPECT_EQ(batch_blocks(operators, divide(operators, {4, 4, 1, 64})), std::vector<bool>(5, false));
}

TEST(Division, BatchNeedsWholeSequencesPerGpu) {
  const OperatorGraph operators = build_operator_graph(small_model(3, false));
  for (const double sequences : {1.0, 2.0, 6.0})
    EXPECT_EQ(batch_blocks(operators, divide(operators, {4, sequences, 8, 1e-9})), std::vector<bool>(5, false));
}

TEST(Division, TensorDivisionIsMegatrons) {
  const OperatorGraph operators = build_operator_graph(small_model(1, false));
  const auto shardings = divide(operators, {4, 1, 1, 2});
  std::string text;
  for (std::size_t v = 0; v < shardings.size(); ++v) text += operators[v].name + " " + name_of(shardings[v]) + "\n";
  EXPECT_EQ(text,
            "embedding row\n"
            "norm 1 replicated\nqkv column\nscores column\nsoftmax column\nvalues column\nprojection row\n"
            "residual 1 replicated\n"
            "norm 2 replicated\nmlp up column\ngelu column\nmlp down row\nresidual 2 replicated\n"
            "final norm replicated\nhead column\nloss column\n");
}

TEST(Division, OneGpuDividesNothing) {
  const OperatorGraph operators = build_operator_graph(small_model(1));
  for (const Sharding sharding : divide(operators, {1, 4, 1, 2})) EXPECT_EQ(sharding, Sharding::kReplicated);
}

// Layers per stage of a pipeline over `stages` GPUs.
std::vector<int> cut(Transformer model, int stages) {
  Scenario scenario = small_scenario(1, stages);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(Technique::kPipeshard, 1);
  options.stages = stages;
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
    for (std::size_t v = stage.first; v < stage.last; ++v) count += operators[v].name == "norm 1";
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
}  // namespace slmsim
