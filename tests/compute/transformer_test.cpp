#include "sim/compute/transformer.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "tests/errors_of.h"

namespace slmsim::transformer_test {
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
              ElementsAre("m.yaml:1:109: error: max_position_embeddings 131072 is the longest sequence of the model, "
                          "rarely the training length; state it, e.g. --set models.0.sequence=2048"));
}

TEST(Transformer, TakesHeadsOfAnotherWidth) {
  const Example e(std::string(kLlama) + ", sequence: 512, head_dim: 32}");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  // h = 64, w = 128, L = 2, V = 100, four heads of 32: queries, keys, values and projection have 64 x 128 each.
  EXPECT_EQ(parameter_count(build_operator_graph(e.model)), 2 * (4 * 8192 + 3 * 8192 + 2 * 64) + 2 * 6400 + 64);
}

TEST(Transformer, TakesBiasesOfAConfig) {
  const Example e(std::string(kLlama) + ", sequence: 512, attention_bias: true, mlp_bias: true}");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  const Example without(std::string(kLlama) + ", sequence: 512}");
  // Biases of queries, keys, values and projection: 64 each; of the MLP: 2 x 128 and 64; in two layers.
  EXPECT_EQ(parameter_count(build_operator_graph(e.model)) - parameter_count(build_operator_graph(without.model)),
            2 * (4 * 64 + 2 * 128 + 64));
}

TEST(Transformer, TakesTheActivationOfAConfig) {
  EXPECT_EQ(Example(std::string(kLlama) + ", sequence: 512, hidden_act: gelu_pytorch_tanh}").model.traits.activation,
            Activation::kGelu);
  EXPECT_THAT(errors_of(Example(std::string(kLlama) + ", sequence: 512, hidden_act: sillu}").reading),
              ElementsAre("m.yaml:1:213: error: models.0.hidden_act: unknown value \"sillu\"; did you mean \"silu\"?"));
}

TEST(Transformer, TakesAnOwnNameInAConfig) {
  EXPECT_EQ(Example(std::string(kLlama) + ", sequence: 512, name: mine}").model.name, "mine");
}

TEST(Transformer, NamesAModelAfterItsFileOrAConfigsFolder) {
  EXPECT_EQ(model_name_of("/x/small/config.json"), "small");
  EXPECT_EQ(model_name_of("/x/small.json"), "small");
  EXPECT_EQ(model_name_of("/x/../y/config.json"), "y");
  EXPECT_EQ(model_name_of("/x/Qwen2.5-0.5B"), "Qwen2.5-0.5B");
  EXPECT_EQ(model_name_of("/x/Qwen2.5-0.5B/config.json"), "Qwen2.5-0.5B");
}

TEST(Transformer, TakesWindowsInAModelFile) {
  std::string text = kTiny;
  text.replace(text.find("layers: 1, sequence: 2"), 22, "layers: 4, sequence: 8, window: 2, full_attention_every: 2");
  const Example e(text);
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  ASSERT_EQ(e.model.layer_kinds.size(), 2u);
  EXPECT_EQ(e.model.kind_of_layer(2).window, 2);
  EXPECT_EQ(e.model.kind_of_layer(3).window, 0);
}

TEST(Transformer, RefusesASequenceBeyondTheLearnedPositions) {
  const std::string gpt2 = "{model_type: gpt2, n_embd: 4, n_head: 2, n_layer: 1, n_positions: 8, vocab_size: 10, ";
  EXPECT_EQ(Example(gpt2 + "sequence: 4}").model.positions, 8);  // those that are not used are trained too
  EXPECT_THAT(errors_of(Example(gpt2 + "sequence: 16}").reading),
              ElementsAre("m.yaml:1:96: error: a sequence of 16 exceeds the 8 learned positions; choose a shorter one, "
                          "or state positions"));
}

TEST(Transformer, DropsAsAConfigSays) {
  const std::string gpt2 = "{model_type: gpt2, n_embd: 4, n_head: 2, n_layer: 1, n_positions: 8, vocab_size: 10, ";
  const Transformer both = Example(gpt2 + "resid_pdrop: 0.1}").model;
  EXPECT_TRUE(both.dropout && both.drops_attention());  // GPT2Config's default is 0.1 for both
  const Transformer branches = Example(gpt2 + "attn_pdrop: 0.0}").model;
  EXPECT_TRUE(branches.dropout && !branches.drops_attention());
  const Transformer none = Example(gpt2 + "attn_pdrop: 0.1, resid_pdrop: 0.1, dropout: no}").model;
  EXPECT_FALSE(none.dropout || none.drops_attention());  // this project's key speaks of both
}

TEST(Transformer, RefusesWhatIsLaidUponAConfigAndMeansNothing) {
  Node node = parse_yaml(std::string(kLlama) + ", sequence: 512, torch_dtype: bfloat16}", "config.json");
  merge(node, parse_yaml("{layers: 4, banana: 4}", "--set"));
  const Example e(node);
  EXPECT_EQ(e.model.layers, 4);
  ASSERT_EQ(errors_of(e.reading).size(), 1u);
  EXPECT_THAT(errors_of(e.reading)[0], testing::HasSubstr("--set:1:13: error: unknown key \"banana\" in models.0"));
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
  EXPECT_THAT(errors_of(e.reading), ElementsAre(testing::StartsWith(
                                        "m.yaml:1:19: error: models.0.family: unknown value \"gpt3\"; known are: llama")));
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
}  // namespace slmsim::transformer_test
