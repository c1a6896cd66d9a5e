// Adapters against the counts that their paper states, and what they leave of a layer's work.
#include <boost/range/iterator_range.hpp>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/software.h"
#include "sim/compute/transformer.h"

namespace slmsim::lora_test {
namespace {

using enum LoraTarget;

// A model of such layers whose products are its embedding's width wide.
Transformer model_of(std::int64_t layers, std::int64_t hidden) {
  Transformer model;
  model.name = "model";
  model.hidden = hidden;
  model.heads = model.kv_heads = hidden / 64;
  model.layers = layers;
  model.sequence = 2048;
  model.vocabulary = 50257;
  model.intermediate = 4 * hidden;
  return model;
}

double adapters(Transformer model, int rank, std::vector<LoraTarget> targets) {
  model.lora = Lora{rank, std::move(targets)};
  return trained_count(build_operator_graph(model));
}

// Hu et al., arXiv 2106.09685, tables 2, 4 and 5: RoBERTa base 0.3 M and large 0.8 M, DeBERTa XXL 4.7 M, GPT-3 4.7 M and
// 37.7 M, and 18 M by one, two and four products of an attention. Table 9: ranks 8, 8, 16, 1 and 8 of queries and values.
TEST(Lora, HasTheParametersOfItsPaper) {
  EXPECT_NEAR(adapters(model_of(12, 768), 8, {kQuery, kValue}), 0.3e6, 0.05e6);
  EXPECT_NEAR(adapters(model_of(24, 1024), 8, {kQuery, kValue}), 0.8e6, 0.05e6);
  EXPECT_NEAR(adapters(model_of(48, 1536), 16, {kQuery, kValue}), 4.7e6, 0.05e6);
  const Transformer gpt3 = model_of(96, 12288);
  EXPECT_NEAR(adapters(gpt3, 1, {kQuery, kValue}), 4.7e6, 0.05e6);
  EXPECT_NEAR(adapters(gpt3, 8, {kQuery, kValue}), 37.7e6, 0.06e6);
  const double budget = 96 * 8 * 2 * 12288;  // 18.9 M
  EXPECT_EQ(adapters(gpt3, 8, {kQuery}), budget);
  EXPECT_EQ(adapters(gpt3, 4, {kQuery, kValue}), budget);
  EXPECT_EQ(adapters(gpt3, 2, {kQuery, kKey, kValue, kOutput}), budget);
}

TEST(Lora, CountsEachProductBySides) {
  // Rank 3: of up 64 + 256, of down 256 + 64; of a gated MLP two of the former.
  Transformer model = model_of(2, 64);
  EXPECT_EQ(adapters(model, 3, {kUp}), 2 * 3 * (64 + 256));
  EXPECT_EQ(adapters(model, 3, {kDown}), 2 * 3 * (64 + 256));
  model.family = Family::kLlama;
  model.traits = traits_of(Family::kLlama);
  model.intermediate = 100;
  EXPECT_EQ(adapters(model, 3, {kUp}), 2 * 2 * 3 * (64 + 100));
  // Keys of fewer heads are narrower.
  model.hidden = 128;
  model.heads = 2;
  model.kv_heads = 1;
  EXPECT_EQ(adapters(model, 3, {kQuery}), 2 * 3 * (128 + 128));
  EXPECT_EQ(adapters(model, 3, {kKey}), 2 * 3 * (128 + 64));
}

TEST(Lora, LeavesTheModelsOwnParametersWhereTheyAre) {
  Transformer model = model_of(3, 64);
  const double all = parameter_count(build_operator_graph(model));
  EXPECT_EQ(trained_count(build_operator_graph(model)), all);
  model.lora = Lora{4, {kQuery, kValue}};
  const OperatorGraph graph = build_operator_graph(model);
  EXPECT_EQ(parameter_count(graph), all + trained_count(graph));
  EXPECT_TRUE(graph[boost::num_vertices(graph) - 2].is_tied());
}

// With dropout, each adapter keeps its own copy of its input and a byte of mask per element; the frozen product then keeps nothing.
TEST(Lora, KeepsItsInputsBehindDropout) {
  Transformer model = model_of(1, 64);
  const auto kept = [&](bool dropout, std::vector<LoraTarget> targets) {
    model.lora = Lora{4, std::move(targets), dropout};
    const OperatorGraph graph = build_operator_graph(model);
    double bytes = 0;
    for (const auto v : boost::make_iterator_range(boost::vertices(graph)))
      bytes += kept_bytes(graph[v], Precision::kBf16, AttentionKernel::kFlash, {});
    return bytes;
  };
  const double inputs = 2048 * 64;
  const auto more = [&](const std::vector<LoraTarget>& targets) { return kept(true, targets) - kept(false, targets); };
  EXPECT_EQ(more({kQuery, kValue}), 2 * inputs * (2 + 1) - inputs * 2);
  EXPECT_EQ(more({kUp}), inputs * (2 + 1) - inputs * 2);
  EXPECT_EQ(more({kDown}), 4 * inputs * (2 + 1) - 4 * inputs * 2);
  model.traits = traits_of(Family::kLlama);  // two products in front of the gate, with an adapter each
  EXPECT_EQ(more({kUp}), 2 * inputs * (2 + 1) - inputs * 2);
}

TEST(Lora, LetsNoGradientReachWhatLiesInFrontOfTheFirstAdapter) {
  Transformer model = model_of(2, 64);
  model.lora = Lora{4, {kDown}};
  const OperatorGraph graph = build_operator_graph(model);
  bool behind = false;
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) {
    const Operator& op = graph[v];
    behind = behind || op.role == Role::kAdapterIn;
    EXPECT_EQ(op.unreached, !behind) << name_of(op.role) << " of layer " << op.layer;
    EXPECT_EQ(op.frozen, op.weights > 0 && op.role != Role::kAdapterIn && op.role != Role::kAdapterOut);
  }
}

}  // namespace
}  // namespace slmsim::lora_test
