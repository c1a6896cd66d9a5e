#include "sim/compute/operator_graph.h"

#include <string>

#include <boost/range/iterator_range.hpp>
#include <gtest/gtest.h>

namespace slmsim::operator_graph_test {
namespace {

// h = 4, a = 2, L = 1, S = 2, V = 10.
Transformer tiny(std::int64_t layers = 1) {
  return {.name = "tiny",
          .family = Family::kGpt2,
          .hidden = 4,
          .heads = 2,
          .kv_heads = 2,
          .layers = layers,
          .sequence = 2,
          .vocabulary = 10,
          .intermediate = 16,
          .tied_embedding = true,
          .dropout = true};
}

// FLOPs of all matrix products.
double forward_flops(const OperatorGraph& graph) {
  double sum = 0;
  for (const auto vertex : boost::make_iterator_range(boost::vertices(graph))) sum += graph[vertex].matrix.flops();
  return sum;
}

Transformer bundled(const std::string& name) {
  Reading reading;
  const Node node = read_yaml(SLMSIM_SOURCE_DIR "/models/" + name + ".yaml");
  const Transformer model = read_transformer(node, "models.0", "", reading);
  reading.check();
  return model;
}

auto operators_of(const OperatorGraph& graph) { return boost::make_iterator_range(boost::vertices(graph)); }

Operator find(const OperatorGraph& graph, const std::string& name) {
  for (const auto vertex : operators_of(graph)) {
    if (name_of(graph[vertex].role) == name) return graph[vertex];
  }
  throw std::out_of_range(name);
}

// P = 12 L h^2 + 13 L h + 2 h + (V + S) h
double gpt2_parameters(const Transformer& m) {
  const auto h = static_cast<double>(m.hidden), layers = static_cast<double>(m.layers);
  return 12 * layers * h * h + 13 * layers * h + 2 * h + static_cast<double>(m.vocabulary + m.sequence) * h;
}

// Queries, keys, values, projection, up, down: keys, projection and down are second. With a gate the product after it is, and
// down is the seventh.
TEST(OperatorGraph, KnowsEverySecondProductOfALayer) {
  const OperatorGraph plain = build_operator_graph(tiny(2));
  EXPECT_DOUBLE_EQ(find(plain, "qkv").second, 1.0 / 3);
  EXPECT_EQ(find(plain, "projection").second, 1);
  EXPECT_EQ(find(plain, "mlp up").second, 0);
  EXPECT_EQ(find(plain, "mlp down").second, 1);
  // Keys are 256 of 2048 + 2 x 256 columns.
  const OperatorGraph gated = build_operator_graph(bundled("tinyllama-1.1b"));
  EXPECT_DOUBLE_EQ(find(gated, "qkv").second, 0.1);
  EXPECT_EQ(find(gated, "projection").second, 1);
  EXPECT_EQ(find(gated, "mlp up").second, 0.5);
  EXPECT_EQ(find(gated, "mlp down").second, 0);
}

TEST(OperatorGraph, CountsTheParametersOfATinyGpt2) {
  // 12 x 16 + 13 x 4 + 2 x 4 + 12 x 4 = 192 + 52 + 8 + 48
  EXPECT_EQ(parameter_count(build_operator_graph(tiny())), 300.0);
}

TEST(OperatorGraph, CountsTheParametersOfTheStudysModels) {
  // The sums stand in the model files, e.g. 12 x 24 x 1024^2 + 13 x 24 x 1024 + 2 x 1024 + 51281 x 1024.
  EXPECT_EQ(parameter_count(build_operator_graph(bundled("gpt2m"))), 354823168.0);
  EXPECT_EQ(parameter_count(build_operator_graph(bundled("gpt2-577m"))), 577255680.0);
  EXPECT_EQ(parameter_count(build_operator_graph(bundled("gpt2-656m"))), 655965440.0);
}

TEST(OperatorGraph, CountsParametersByTheFormulaOfGpt2) {
  for (const char* name : {"gpt2m", "gpt2-577m", "gpt2-656m"}) {
    const Transformer model = bundled(name);
    EXPECT_EQ(parameter_count(build_operator_graph(model)), gpt2_parameters(model)) << name;
  }
}

TEST(OperatorGraph, GivesAnUntiedHeadItsOwnParameters) {
  Transformer model = tiny();
  model.tied_embedding = false;
  EXPECT_EQ(parameter_count(build_operator_graph(model)), 340.0);  // 300 + V h = 300 + 10 x 4
  EXPECT_EQ(find(build_operator_graph(model), "head").parameters, 40.0);
}

TEST(OperatorGraph, LetsATiedHeadReadWeightsThatAreNotItsOwn) {
  const OperatorGraph graph = build_operator_graph(tiny());
  EXPECT_EQ(find(graph, "head").parameters, 0.0);
  EXPECT_EQ(find(graph, "head").weights, 40.0);  // V h
}

TEST(OperatorGraph, DoesTwoFlopsPerMultiplicationOfAMatrixProduct) {
  const MatrixShape shape{.batch = 3, .m = 4, .n = 5, .k = 6};
  EXPECT_EQ(shape.flops(), 720.0);  // 2 x 3 x 4 x 5 x 6
}

TEST(OperatorGraph, CountsTheForwardFlopsOfEveryProduct) {
  const OperatorGraph graph = build_operator_graph(tiny());
  EXPECT_EQ(find(graph, "qkv").flops, 192.0);        // 2 S h 3h = 2 x 2 x 4 x 12
  EXPECT_EQ(find(graph, "scores").flops, 32.0);      // 2 S S h = 2 x 2 x 2 x 4
  EXPECT_EQ(find(graph, "values").flops, 32.0);      // the same
  EXPECT_EQ(find(graph, "projection").flops, 64.0);  // 2 S h h = 2 x 2 x 4 x 4
  EXPECT_EQ(find(graph, "mlp up").flops, 256.0);     // 2 S h 4h = 2 x 2 x 4 x 16
  EXPECT_EQ(find(graph, "mlp down").flops, 256.0);   // the same
  EXPECT_EQ(find(graph, "head").flops, 160.0);       // 2 S h V = 2 x 2 x 4 x 10
  EXPECT_EQ(forward_flops(graph), 992.0);            // 192 + 32 + 32 + 64 + 256 + 256 + 160
}

TEST(OperatorGraph, ForwardThreeTimesIsAlpasFormula) {
  // Backward does each product twice. 72 B S h^2 L (1 + S / 6h) + 6 B S h V with B = 1:
  // 72 x 2 x 16 x (1 + 2 / 24) + 6 x 2 x 4 x 10 = 2304 + 192 + 480
  EXPECT_DOUBLE_EQ(reported_flops(tiny(), 1, false).value, 2976.0);
  EXPECT_EQ(3 * forward_flops(build_operator_graph(tiny())), 2976.0);
  for (const char* name : {"gpt2m", "gpt2-577m", "gpt2-656m"}) {
    const Transformer model = bundled(name);
    // Both are integers below 2^53 but for the formula's division: a rounding or two, 1e-14.
    EXPECT_NEAR(3 * forward_flops(build_operator_graph(model)) / reported_flops(model, 1, false).value, 1.0, 1e-14)
        << name;
  }
}

TEST(OperatorGraph, ReportsAThirdMoreFlopsPerLayerWithRematerialisation) {
  // (2304 + 192) x 96 / 72 + 480: the layers' forward is done once more, the head's is not.
  EXPECT_DOUBLE_EQ(reported_flops(tiny(), 1, true).value, 3808.0);
}

TEST(OperatorGraph, ReportsFlopsInProportionToTheSequences) {
  EXPECT_DOUBLE_EQ(reported_flops(tiny(), 10, false).value, 29760.0);
}

TEST(OperatorGraph, KeepsTheActivationsOfKorthikantiInEveryLayer) {
  // fp16: S h (34 + 5 a S / h) bytes = 2 x 4 x (34 + 5 x 2 x 2 / 4) = 8 x 39
  const OperatorGraph graph = build_operator_graph(tiny(3));
  for (int layer = 0; layer < 3; ++layer) {
    double bytes = 0;
    for (const auto vertex : operators_of(graph)) {
      if (graph[vertex].layer == layer)
        bytes += 2 * (graph[vertex].saved_elements + graph[vertex].saved_scores) + graph[vertex].saved_bytes +
                 graph[vertex].saved_score_bytes;
    }
    EXPECT_EQ(bytes, 312.0) << layer;
  }
}

TEST(OperatorGraph, KeepsTheLogits) {
  // S V elements; what else is kept of them depends on the software.
  const Operator loss = find(build_operator_graph(tiny()), "loss");
  EXPECT_EQ(loss.saved_elements, 20.0);
  EXPECT_EQ(loss.saved_bytes, 0.0);
}

TEST(OperatorGraph, PointsAllEdgesForward) {
  const OperatorGraph graph = build_operator_graph(tiny(3));
  for (const auto edge : boost::make_iterator_range(boost::edges(graph)))
    EXPECT_LT(boost::source(edge, graph), boost::target(edge, graph));
}

TEST(OperatorGraph, LeavesNoOperatorUnconnected) {
  const OperatorGraph graph = build_operator_graph(tiny(2));
  const auto last = boost::num_vertices(graph) - 1;
  for (const auto vertex : operators_of(graph)) {
    EXPECT_EQ(boost::in_degree(vertex, graph) == 0, vertex == 0) << name_of(graph[vertex].role);
    EXPECT_EQ(boost::out_degree(vertex, graph) == 0, vertex == last) << name_of(graph[vertex].role);
  }
  EXPECT_EQ(graph[0].kind, OperatorKind::kEmbedding);
  EXPECT_EQ(graph[last].kind, OperatorKind::kLoss);
}

TEST(OperatorGraph, NumbersLayersFromBeforeTheFirstToBehindTheLast) {
  const OperatorGraph graph = build_operator_graph(tiny(2));
  int before = -1;
  for (const auto vertex : operators_of(graph)) {
    EXPECT_GE(graph[vertex].layer, before);  // never back
    before = graph[vertex].layer;
  }
  EXPECT_EQ(find(graph, "embedding").layer, -1);
  EXPECT_EQ(find(graph, "final norm").layer, 2);
  EXPECT_EQ(find(graph, "head").layer, 2);
}

TEST(OperatorGraph, GivesEveryLayerTheSame) {
  // Two layers more: 2 x (12 h^2 + 13 h) = 2 x (192 + 52) parameters and 2 x (992 - 160) FLOPs more.
  EXPECT_EQ(parameter_count(build_operator_graph(tiny(3))), 788.0);
  EXPECT_EQ(forward_flops(build_operator_graph(tiny(3))), 2656.0);
}

TEST(OperatorGraph, GivesGroupedKeyValueHeadsSmallerProjections) {
  // Llama, h = 8, 4 heads of 2, 2 key-value heads: qkv has 8 + 2 x 4 columns of 8, no bias.
  Transformer model{.name = "l",
                    .family = Family::kLlama,
                    .hidden = 8,
                    .heads = 4,
                    .kv_heads = 2,
                    .layers = 1,
                    .sequence = 2,
                    .vocabulary = 10,
                    .intermediate = 16};
  EXPECT_EQ(find(build_operator_graph(model), "qkv").parameters, 128.0);
  model.kv_heads = 4;
  EXPECT_EQ(find(build_operator_graph(model), "qkv").parameters, 192.0);  // 8 x 3 x 8
}

// h = 8, 4 heads, S = 2, V = 10, w = 16.
Transformer small(Family family, std::int64_t kv_heads = 4) {
  return {.name = "small",
          .family = family,
          .hidden = 8,
          .heads = 4,
          .kv_heads = kv_heads,
          .layers = 1,
          .sequence = 2,
          .vocabulary = 10,
          .intermediate = 16};
}

TEST(OperatorGraph, GivesProductsTheWidthOfHeads) {
  Transformer model = small(Family::kLlama, 2);
  model.head_dim = 6;  // queries are 24 wide, keys and values 12 each
  const OperatorGraph graph = build_operator_graph(model);
  EXPECT_EQ(find(graph, "qkv").matrix.n, 48);
  EXPECT_EQ(find(graph, "qkv").matrix.k, 8);
  EXPECT_EQ(find(graph, "qkv").rotated, 72.0);  // 2 x (24 + 12)
  EXPECT_EQ(find(graph, "scores").matrix.k, 6);
  EXPECT_EQ(find(graph, "scores").flops, 192.0);  // 2 x 4 heads x 2 x 2 x 6
  EXPECT_EQ(find(graph, "values").outputs, 48.0);
  EXPECT_EQ(find(graph, "projection").matrix.n, 8);
  EXPECT_EQ(find(graph, "projection").matrix.k, 24);
}

TEST(OperatorGraph, ReportsThreeTimesTheProductsOfAnyModel) {
  for (const auto& row : family_table()) {
    const auto family = static_cast<Family>(&row - family_table().data());
    Transformer model = small(family, row.traits.rms_norm ? 2 : 4);
    model.head_dim = 6;
    EXPECT_NEAR(reported_flops(model, 1, false).value, 3 * forward_flops(build_operator_graph(model)), 1e-9)
        << row.name;
  }
}

TEST(OperatorGraph, LetsAttentionAndMlpReadTheSameStreamInGptNeoX) {
  const OperatorGraph graph = build_operator_graph(small(Family::kGptNeoX));
  for (const auto vertex : operators_of(graph)) {
    if (graph[vertex].role != Role::kMlpNorm) continue;
    EXPECT_EQ(graph[boost::source(*boost::in_edges(vertex, graph).first, graph)].role, Role::kEmbedding);
  }
  EXPECT_EQ(find(graph, "qkv").rotated, 8.0);  // a quarter of 2 x (8 + 8)
}

TEST(OperatorGraph, NormsQueriesAndKeysOfQwen3) {
  const Operator norm = find(build_operator_graph(small(Family::kQwen3, 2)), "query norm");
  EXPECT_EQ(norm.parameters, 4.0);  // a scale of 2 for queries, one for keys
  EXPECT_EQ(norm.outputs, 24.0);    // 2 tokens of 4 + 2 heads
}

TEST(OperatorGraph, NormsBranchesAndBoundsScoresOfGemma2) {
  const OperatorGraph gemma = build_operator_graph(small(Family::kGemma)),
                      second = build_operator_graph(small(Family::kGemma2));
  EXPECT_EQ(parameter_count(second) - parameter_count(gemma), 16.0);  // two norms more
  // Besides the scores' softmax, 4 heads x 2 x 2, what tanh made of them is kept.
  EXPECT_EQ(find(second, "softmax").saved_scores - find(gemma, "softmax").saved_scores, 16.0);
  EXPECT_EQ(find(second, "loss").saved_elements - find(gemma, "loss").saved_elements, 20.0);
}

TEST(OperatorGraph, KeepsNothingForARelu) {
  EXPECT_EQ(find(build_operator_graph(small(Family::kOpt)), "relu").saved_elements, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kGpt2)), "gelu").saved_elements, 32.0);  // 2 x 16
}

}  // namespace
}  // namespace slmsim::operator_graph_test
