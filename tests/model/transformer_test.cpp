#include "sim/model/transformer.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/model/operator_graph.h"
#include "tests/errors_of.h"

namespace slmsim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kTiny = "{name: tiny, family: gpt2, hidden: 4, heads: 2, layers: 1, sequence: 2, vocabulary: 10}";

struct Example {
  explicit Example(const Node& node) : model(read_transformer(node, "models.0", "folder", reading)) {}
  explicit Example(const std::string& text) : Example(parse_yaml(text, "m.yaml")) {}
  Reading reading;
  Transformer model;
};

Example hugging_face(const std::string& folder) {
  return Example(read_yaml(SLMSIM_SOURCE_DIR "/tests/data/hf/" + folder + "/config.json"));
}

TEST(Transformer, ReadsAModelFile) {
  const Example e(kTiny);
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.name, "tiny");
  EXPECT_EQ(e.model.family, Family::kGpt2);
  EXPECT_EQ(e.model.hidden, 4);
  EXPECT_EQ(e.model.heads, 2);
  EXPECT_EQ(e.model.kv_heads, 2);
  EXPECT_EQ(e.model.layers, 1);
  EXPECT_EQ(e.model.sequence, 2);
  EXPECT_EQ(e.model.vocabulary, 10);
  EXPECT_EQ(e.model.intermediate, 16);  // GPT-2: four times the hidden size
  EXPECT_TRUE(e.model.tied_embedding);
}

TEST(Transformer, ImportsHuggingFacesGpt2) {
  const Example e = hugging_face("gpt2-medium");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.name, "folder");  // the file does not name the model
  // GPT-2 medium is the study's gpt2m: 12 x 24 x 1024^2 + 13 x 24 x 1024 + 2 x 1024 + 51281 x 1024.
  EXPECT_EQ(parameter_count(build_operator_graph(e.model)), 354823168.0);
}

TEST(Transformer, ImportsHuggingFacesLlama) {
  const Example e = hugging_face("llama-7b");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.family, Family::kLlama);
  EXPECT_FALSE(e.model.tied_embedding);
  // h = 4096, w = 11008, L = 32, V = 32000: per layer 4 h^2 + 3 h w + 2 h = 67108864 + 135266304 + 8192,
  // and once 2 V h + h = 262144000 + 4096. 32 x 202383360 + 262148096, as Meta says.
  EXPECT_EQ(parameter_count(build_operator_graph(e.model)), 6738415616.0);
}

TEST(Transformer, TakesKeyValueHeadsOfALlama) {
  const std::string text =
      "{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_attention_heads\": 4, \"num_hidden_layers\": 1, "
      "\"max_position_embeddings\": 2, \"vocab_size\": 10, \"intermediate_size\": 16, "
      "\"num_key_value_heads\": ";
  EXPECT_EQ(Example(text + "2}").model.kv_heads, 2);
  const Example bad(text + "3}");
  ASSERT_EQ(bad.reading.errors.size(), 1);
  EXPECT_EQ(bad.reading.errors[0].text, "3 key-value heads do not divide 4 heads; choose a divisor");
}

TEST(Transformer, GivesALlamaWithoutKeyValueHeadsOnePerHead) {
  const Example e(
      "{name: l, family: llama, hidden: 8, heads: 4, layers: 1, sequence: 2, vocabulary: 10, intermediate: "
      "16}");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.kv_heads, 4);
  EXPECT_FALSE(e.model.tied_embedding);
}

TEST(Transformer, IgnoresKeysOfHuggingFaceThatItDoesNotNeed) {
  const Example e(
      "{model_type: gpt2, n_embd: 4, n_head: 2, n_layer: 1, n_positions: 2, vocab_size: 10, n_inner: null, "
      "resid_pdrop: 0.1}");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.intermediate, 16);  // n_inner: null is four times n_embd
}

constexpr const char* kLlama =
    "{model_type: llama, hidden_size: 64, num_attention_heads: 4, num_hidden_layers: 2, max_position_embeddings: "
    "131072, "
    "vocab_size: 100, intermediate_size: 128, tie_word_embeddings: false";

TEST(Transformer, TakesOwnKeysUponHuggingFaces) {
  const Example e(std::string(kLlama) + ", sequence: 512, layers: 3, kv_heads: 2}");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.sequence, 512);
  EXPECT_EQ(e.model.layers, 3);
  EXPECT_EQ(e.model.kv_heads, 2);
  EXPECT_EQ(e.model.vocabulary, 100);
}

TEST(Transformer, AsksForTheSequenceWhereOnlyTheLongestIsTold) {
  EXPECT_THAT(errors_of(Example(std::string(kLlama) + "}").reading),
              ElementsAre("m.yaml:1:109: error: max_position_embeddings 131072 is the longest sequence that the model "
                          "takes, hardly that of its training; say which, e.g. by --set models.0.sequence=2048"));
}

TEST(Transformer, RefusesHeadsOfAnotherWidth) {
  EXPECT_THAT(errors_of(Example(std::string(kLlama) + ", sequence: 512, head_dim: 16}").reading), IsEmpty());
  const Example e(std::string(kLlama) + ", sequence: 512, head_dim: 32}");
  ASSERT_EQ(errors_of(e.reading).size(), 1u);
  EXPECT_THAT(errors_of(e.reading)[0],
              testing::HasSubstr("heads that are not hidden size / heads = 16 wide are not modelled"));
}

TEST(Transformer, RefusesWhatIsLaidUponAConfigAndMeansNothing) {
  Node node = parse_yaml(std::string(kLlama) + ", sequence: 512, torch_dtype: bfloat16}", "config.json");
  merge(node, parse_yaml("{layers: 4, banana: 4}", "--set"));
  const Example e(node);
  EXPECT_EQ(e.model.layers, 4);
  ASSERT_EQ(errors_of(e.reading).size(), 1u);
  EXPECT_THAT(errors_of(e.reading)[0], testing::HasSubstr("--set:1:13: error: unknown key \"banana\" of a model"));
}

TEST(Transformer, TakesHuggingFacesInnerWidth) {
  const Example e("{model_type: gpt2, n_embd: 4, n_head: 2, n_layer: 1, n_positions: 2, vocab_size: 10, n_inner: 12}");
  EXPECT_EQ(e.model.intermediate, 12);
}

TEST(Transformer, RefusesHeadsThatDoNotDivideTheHiddenSize) {
  const Example e("name: tiny\nfamily: gpt2\nhidden: 4\nheads: 3\nlayers: 1\nsequence: 2\nvocabulary: 10\n");
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("m.yaml:4:8: error: 3 heads do not divide the hidden size 4; choose a divisor"));
}

TEST(Transformer, RefusesAnotherFamily) {
  const Example e("{name: m, family: gpt3, hidden: 4, heads: 2, layers: 1, sequence: 2, vocabulary: 10}");
  EXPECT_THAT(errors_of(e.reading), ElementsAre("m.yaml:1:19: error: models.0.family: unknown value \"gpt3\"; did "
                                                "you mean \"gpt2\"?"));
}

TEST(Transformer, RefusesAMisspeltKey) {
  std::string text = kTiny;
  text.insert(text.size() - 1, ", tied_embeding: no");
  const Example e(text);
  ASSERT_EQ(e.reading.errors.size(), 1);
  EXPECT_EQ(e.reading.errors[0].text, "unknown key \"tied_embeding\" in models.0; did you mean \"tied_embedding\"?");
}

TEST(Transformer, RefusesZeroLayersWithoutDividingByZeroHeads) {
  const Example e("name: m\nfamily: gpt2\nhidden: 4\nheads: 0\nlayers: 0\nsequence: 2\nvocabulary: 10\n");
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("m.yaml:4:8: error: models.0.heads: \"0\" is out of range; expected a whole number from 1 "
                          "to 4096",
                          "m.yaml:5:9: error: models.0.layers: \"0\" is out of range; expected a whole number from "
                          "1 to 4096"));
}

TEST(Transformer, SaysOnceThatTheHiddenSizeIsMissing) {
  const Example e("{name: m, family: gpt2, heads: 2, layers: 1, sequence: 2, vocabulary: 10}");
  EXPECT_THAT(errors_of(e.reading), ElementsAre("m.yaml:1:1: error: models.0 has no \"hidden\"; it is required"));
}

}  // namespace
}  // namespace slmsim
