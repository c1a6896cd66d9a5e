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
    Transformer model = small(family, row.traits.grouped ? 2 : 4);
    model.head_dim = 6;
    EXPECT_NEAR(reported_flops(model, 1, false).value, 3 * forward_flops(build_operator_graph(model)), 1e-9)
        << row.name;
  }
}

TEST(OperatorGraph, ReportsThreeTimesTheProductsOfAHeadOfClasses) {
  for (const Family family : {Family::kLlama, Family::kBert}) {
    for (const bool tokens : {false, true}) {
      Transformer model = small(family);
      model.classes = 3;
      model.classifies_tokens = tokens;
      EXPECT_NEAR(reported_flops(model, 1, false).value, 3 * forward_flops(build_operator_graph(model)), 1e-9);
    }
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

int count(const OperatorGraph& graph, OperatorKind kind) {
  int out = 0;
  for (const auto vertex : operators_of(graph)) out += graph[vertex].kind == kind ? 1 : 0;
  return out;
}

TEST(OperatorGraph, PutsNormsWhereTheFamilyHasThem) {
  const auto norms = [](Family family) { return count(build_operator_graph(small(family)), OperatorKind::kNorm); };
  EXPECT_EQ(norms(Family::kGpt2), 3);     // two in the layer, one before the head
  EXPECT_EQ(norms(Family::kGptJ), 2);     // one for both branches
  EXPECT_EQ(norms(Family::kGptNeoX), 3);  // one for each
  EXPECT_EQ(norms(Family::kGemma2), 5);   // four in the layer
  EXPECT_EQ(norms(Family::kGemma3), 6);   // and queries and keys
  EXPECT_EQ(norms(Family::kOlmo2), 4);    // queries and keys, both branches, the head
  EXPECT_EQ(norms(Family::kBert), 4);     // the embedding, two in the layer, in the head
  EXPECT_EQ(norms(Family::kOpenAiGpt), 2);
  EXPECT_EQ(norms(Family::kBloom), 4);  // the embedding's too
}

// Queries, keys and values and the MLP read the same tensor, which is kept once: 2 x 8 elements.
TEST(OperatorGraph, KeepsASharedNormOnce) {
  const OperatorGraph graph = build_operator_graph(small(Family::kGptJ));
  EXPECT_EQ(find(graph, "qkv").saved_elements, 16.0);
  EXPECT_EQ(find(graph, "mlp up").saved_elements, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kGptNeoX)), "mlp up").saved_elements, 16.0);
}

// Both norms of GPT-NeoX read the stream; GPT-2's second norm reads what attention was added to.
TEST(OperatorGraph, KeepsAStreamThatTwoNormsReadOnce) {
  const OperatorGraph graph = build_operator_graph(small(Family::kGptNeoX));
  EXPECT_EQ(find(graph, "norm 1").saved_elements, 16.0);
  EXPECT_EQ(find(graph, "norm 2").saved_elements, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kGpt2)), "norm 2").saved_elements, 16.0);
}

// transformers' modules: c_attn, query_key_value, qkv_proj and gate_up_proj are one product; q_proj, k_proj, v_proj three.
TEST(OperatorGraph, CountsTheProductsThatAFamilyHas) {
  const auto products = [](Family family, const char* of) {
    return find(build_operator_graph(small(family)), of).products;
  };
  for (const Family joint : {Family::kGpt2, Family::kGptNeoX, Family::kBloom, Family::kFalcon, Family::kPhi3})
    EXPECT_EQ(products(joint, "qkv"), 1) << static_cast<int>(joint);
  for (const Family three : {Family::kLlama, Family::kBert, Family::kOpt, Family::kPhi, Family::kStarCoder2})
    EXPECT_EQ(products(three, "qkv"), 3) << static_cast<int>(three);
  EXPECT_EQ(products(Family::kLlama, "mlp up"), 2);
  EXPECT_EQ(products(Family::kPhi3, "mlp up"), 1);
  EXPECT_EQ(products(Family::kGlm, "mlp up"), 1);
  EXPECT_EQ(products(Family::kGpt2, "mlp up"), 1);
  // 2 tokens of 8 queries and 8 keys, in one tensor with the values, which are turned elsewhere; GPT-2 turns nothing.
  EXPECT_EQ(find(build_operator_graph(small(Family::kGptNeoX)), "qkv").beside_values, 32.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kGpt2)), "qkv").beside_values, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kLlama)), "qkv").beside_values, 0.0);
}

TEST(OperatorGraph, AttendsToAWindowOfTokens) {
  Transformer model = small(Family::kLlama);
  model.layers = 2;
  model.sequence = 8;
  model.layer_kinds = {{.window = 2}, {}};
  const OperatorGraph graph = build_operator_graph(model);
  std::vector<double> shares;
  for (const auto vertex : operators_of(graph)) {
    if (graph[vertex].role == Role::kScores) shares.push_back(graph[vertex].attended);
  }
  // (2 x 8 - 2 x 2 / 2) of 8 x 8, and half of them.
  EXPECT_EQ(shares, (std::vector<double>{14.0 / 64, 0.5}));
  EXPECT_EQ(find(build_operator_graph(small(Family::kBert)), "scores").attended, 1.0);
}

TEST(OperatorGraph, TurnsNothingInALayerWithoutPositions) {
  Transformer model = small(Family::kLlama);
  model.layer_kinds = {{.rotary = false}};
  EXPECT_EQ(find(build_operator_graph(model), "qkv").rotated, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kBloom)), "qkv").rotated, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kLlama)), "qkv").rotated, 32.0);  // 2 x (8 + 8)
}

TEST(OperatorGraph, ClassifiesTheFirstTokenOfAnEncoder) {
  Transformer model = small(Family::kBert);
  const OperatorGraph words = build_operator_graph(model);
  EXPECT_EQ(find(words, "head dense").matrix.m, 2);
  EXPECT_EQ(find(words, "head").matrix.n, 10);
  EXPECT_EQ(find(words, "head dense").parameters, 82.0);  // 8 x 8 + 8, and the tied head's bias of 10
  model.classes = 3;
  const OperatorGraph classes = build_operator_graph(model);
  EXPECT_EQ(find(classes, "head dense").matrix.m, 1);
  EXPECT_EQ(find(classes, "head").parameters, 27.0);  // 3 x 8 + 3
  EXPECT_EQ(find(classes, "loss").outputs, 3.0);
}

TEST(OperatorGraph, ClassifiesASequenceByADecodersLastToken) {
  Transformer model = small(Family::kLlama);
  model.classes = 3;
  const OperatorGraph graph = build_operator_graph(model);
  EXPECT_EQ(find(graph, "head").parameters, 24.0);
  EXPECT_EQ(find(graph, "head").outputs, 6.0);
  EXPECT_EQ(find(graph, "loss").outputs, 3.0);
}

TEST(OperatorGraph, KnowsALayerNormWithoutAShift) {
  EXPECT_TRUE(find(build_operator_graph(small(Family::kLlama)), "norm 1").is_rms_norm());
  EXPECT_FALSE(find(build_operator_graph(small(Family::kCohere)), "norm 1").is_rms_norm());
  EXPECT_FALSE(find(build_operator_graph(small(Family::kOlmo)), "norm 1").is_rms_norm());
  EXPECT_EQ(find(build_operator_graph(small(Family::kOlmo)), "norm 1").parameters, 0.0);
}

TEST(OperatorGraph, KeepsNothingForARelu) {
  EXPECT_EQ(find(build_operator_graph(small(Family::kOpt)), "relu").saved_elements, 0.0);
  EXPECT_EQ(find(build_operator_graph(small(Family::kGpt2)), "gelu").saved_elements, 32.0);  // 2 x 16
}

}  // namespace
}  // namespace slmsim::operator_graph_test
