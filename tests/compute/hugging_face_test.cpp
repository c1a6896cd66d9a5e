#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/transformer.h"
#include "tests/errors_of.h"

namespace slmsim::hugging_face_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Example {
  explicit Example(const std::string& text)
      : model(read_transformer(parse_yaml(text, "m.yaml"), "models.0", "folder", reading)) {}
  Reading reading;
  Transformer model;
};

constexpr const char* kLlama =
    "{model_type: llama, hidden_size: 64, num_attention_heads: 4, num_hidden_layers: 2, vocab_size: 100, "
    "sequence: 512, intermediate_size: 128";

constexpr const char* kMistral =
    "{model_type: mistral, hidden_size: 64, num_attention_heads: 4, num_key_value_heads: 4, num_hidden_layers: 2, "
    "vocab_size: 100, "
    "intermediate_size: 128, max_position_embeddings: 32768, ";

std::vector<std::int64_t> windows_of(const Transformer& model) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < model.layers; ++i) out.push_back(model.kind_of_layer(i).window);
  return out;
}

std::vector<bool> rotary_layers(const Transformer& model) {
  std::vector<bool> out;
  for (std::int64_t i = 0; i < model.layers; ++i) out.push_back(model.kind_of_layer(i).rotary);
  return out;
}

// MistralConfig: 8 key-value heads; Gemma3TextConfig: 256 columns of a head; LlamaConfig: as many key-value heads as heads.
TEST(HuggingFace, ListsSizesOfItsClass) {
  const auto listed = [](const std::string& config) {
    const Example example("{sequence: 512, hidden_size: 64, vocab_size: 100, num_hidden_layers: 2, " + config + "}");
    EXPECT_THAT(errors_of(example.reading), IsEmpty());
    return example.model.by_class;
  };
  const std::string mistral = "model_type: mistral, num_attention_heads: 8";
  EXPECT_THAT(listed(mistral), ElementsAre("num_key_value_heads 8", "intermediate_size 14336"));
  EXPECT_THAT(listed(mistral + ", num_key_value_heads: 8, intermediate_size: 14336"), IsEmpty());
  EXPECT_THAT(listed("model_type: llama, num_attention_heads: 4, intermediate_size: 128"),
              ElementsAre("num_key_value_heads 4"));
  EXPECT_THAT(listed("model_type: gemma3_text, num_attention_heads: 8, num_key_value_heads: 4, intermediate_size: 64"),
              ElementsAre("head_dim 256"));
}

TEST(HuggingFace, SaysWhatOfAConfigIsNotModelled) {
  const std::string config = kLlama;
  EXPECT_THAT(Example(config + "}").model.unmodelled, IsEmpty());
  EXPECT_THAT(Example(config + ", quantization_config: null}").model.unmodelled, IsEmpty());
  EXPECT_THAT(Example(config + ", vision_config: {hidden_size: 1152}}").model.unmodelled,
              ElementsAre("vision_config is not modelled: only its text model counts"));
}

TEST(HuggingFace, HasNoWindowThatIsNoShorterThanSequences) {
  EXPECT_TRUE(Example(std::string(kMistral) + "sequence: 4096, sliding_window: 4096}").model.layer_kinds.empty());
  EXPECT_TRUE(Example(std::string(kMistral) + "sequence: 8192, sliding_window: null}").model.layer_kinds.empty());
}

TEST(HuggingFace, TakesAWindowThatIsShorterThanSequences) {
  const Example stated(std::string(kMistral) + "sequence: 8192, sliding_window: 2048}");
  EXPECT_THAT(errors_of(stated.reading), IsEmpty());
  EXPECT_THAT(windows_of(stated.model), ElementsAre(2048, 2048));
  // MistralConfig's default is 4096.
  EXPECT_THAT(windows_of(Example(std::string(kMistral) + "sequence: 8192}").model), ElementsAre(4096, 4096));
}

TEST(HuggingFace, HeedsAWindowOfQwenOnlyWhereItIsUsed) {
  const std::string qwen =
      "{model_type: qwen2, hidden_size: 64, num_attention_heads: 4, num_key_value_heads: 4, num_hidden_layers: 4, "
      "max_window_layers: 3, sequence: 2048, sliding_window: 1024, use_sliding_window: ";
  EXPECT_TRUE(Example(qwen + "false}").model.layer_kinds.empty());
  EXPECT_THAT(windows_of(Example(qwen + "true}").model), ElementsAre(0, 0, 0, 1024));
}

// Each by its configuration class in transformers.
TEST(HuggingFace, WindowsLayersAsTheirFamily) {
  const auto windows = [](const std::string& config) {
    return windows_of(Example("{sequence: 1024, hidden: 64, heads: 4, kv_heads: 4, layers: 6, " + config + "}").model);
  };
  EXPECT_THAT(windows("model_type: gemma2, sliding_window: 512"), ElementsAre(512, 0, 512, 0, 512, 0));
  EXPECT_THAT(windows("model_type: gemma3_text, sliding_window: 512"), ElementsAre(512, 512, 512, 512, 512, 0));
  EXPECT_THAT(windows("model_type: gemma3_text, sliding_window: 512, sliding_window_pattern: 3"),
              ElementsAre(512, 512, 0, 512, 512, 0));
  EXPECT_THAT(windows("model_type: olmo3, sliding_window: 512"), ElementsAre(512, 512, 512, 0, 512, 512));
  EXPECT_THAT(windows("model_type: gpt_neo"), ElementsAre(0, 256, 0, 256, 0, 256));
  EXPECT_THAT(windows("model_type: gpt_neo, attention_types: [[[global], 2], [[local, local], 2]]"),
              ElementsAre(0, 0, 256, 256, 256, 256));
  EXPECT_THAT(windows("model_type: olmo3, sliding_window: 512, layer_types: [full_attention, sliding_attention, "
                      "full_attention, full_attention, sliding_attention, full_attention]"),
              ElementsAre(0, 512, 0, 0, 512, 0));
}

// By each, transformers builds another model, or none.
TEST(HuggingFace, RefusesWhatContradictsItself) {
  const std::string few = " has 1 entries for 28 layers; one each is expected";
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"{model_type: qwen3, num_hidden_layers: 28, sequence: 64, layer_types: [full_attention]}",
            "layer_types" + few},
           {"{model_type: smollm3, num_hidden_layers: 28, sequence: 64, no_rope_layers: [1]}", "no_rope_layers" + few},
           {"{model_type: gpt2, n_embd: 768, hidden_size: 1024}", "hidden_size contradicts n_embd; state one of them"},
           {"{model_type: llama, sequence: 64, intermediate_size: null}", "intermediate_size is nothing; "},
           {"{model_type: gemma, sequence: 64, head_dim: null}", "head_dim is nothing; "},
           {"{model_type: llama, sequence: 64, quantization_config: {quant_method: gptq, bits: 4}}",
            "training of quantized weights is not modelled"}})
    EXPECT_THAT(errors_of(Example(text).reading), ElementsAre(testing::HasSubstr(error))) << text;
  EXPECT_THAT(errors_of(Example("{model_type: gpt2, n_embd: 768, hidden_size: 768, n_inner: null}").reading),
              IsEmpty());
}

TEST(HuggingFace, LeavesPositionsOutOfSomeLayers) {
  const std::string sizes = "sequence: 1024, hidden: 64, heads: 4, kv_heads: 4, layers: 4";
  EXPECT_THAT(rotary_layers(Example("{model_type: smollm3, " + sizes + "}").model),
              ElementsAre(true, true, true, false));
  EXPECT_THAT(rotary_layers(Example("{model_type: smollm3, no_rope_layers: [0, 1, 0, 1], " + sizes + "}").model),
              ElementsAre(false, true, false, true));
  // Layers without a window, of Cohere and of EXAONE where others have one.
  for (const char* type : {"cohere2", "exaone4"}) {
    EXPECT_THAT(rotary_layers(Example(std::string("{model_type: ") + type + ", " + sizes + "}").model),
                ElementsAre(true, true, true, false));
  }
  EXPECT_THAT(rotary_layers(Example("{model_type: exaone4, sliding_window: null, " + sizes + "}").model),
              testing::Each(true));
}

TEST(HuggingFace, RefusesLayersOfAnotherKind) {
  EXPECT_THAT(errors_of(Example("{model_type: qwen3, sequence: 512, layer_types: [full_attention, conv]}").reading),
              ElementsAre("m.yaml:1:66: error: layer_types: \"conv\" is not modelled; full_attention and "
                          "sliding_attention are"));
  EXPECT_THAT(errors_of(Example("{model_type: gpt_neo, sequence: 512, attention_types: [[global, 12]]}").reading),
              ElementsAre("m.yaml:1:55: error: attention_types is not a list such as [[[\"global\", \"local\"], 12]]"));
}

TEST(HuggingFace, SaysOnceWhatCannotBeModelled) {
  for (const auto& [type, why] : {std::pair{"mixtral", "a mixture of experts"},
                                  {"qwen3_moe", "a mixture of experts"},
                                  {"olmoe", "a mixture of experts"},
                                  {"deepseek_v3", "latent attention"},
                                  {"albert", "an encoder with other attention or other embeddings"},
                                  {"t5", "an encoder with a decoder"},
                                  {"qwen2_vl", "a model of images or sound and text"},
                                  {"mamba2", "a state-space or recurrent model"}}) {
    const Example e("{model_type: " + std::string(type) + ", d_model: 64, num_local_experts: 8}");
    EXPECT_THAT(errors_of(e.reading), ElementsAre("m.yaml:1:14: error: model_type: \"" + std::string(type) + "\" is " +
                                                  why + ", which is not modelled"));
  }
  EXPECT_THAT(errors_of(Example(std::string(kLlama) + ", num_local_experts: 8}").reading),
              ElementsAre(testing::HasSubstr("\"llama\" is a mixture of experts by its num_local_experts")));
  EXPECT_THAT(errors_of(Example(std::string(kLlama) + ", add_cross_attention: true}").reading),
              ElementsAre(testing::HasSubstr("\"llama\" attends to an encoder by its add_cross_attention")));
}

// Another family is not what its publisher meant.
TEST(HuggingFace, SuggestsNoOtherFamilyForAnUnknownModelType) {
  EXPECT_THAT(
      errors_of(Example("{model_type: gpt_neoz, hidden_size: 64}").reading),
      ElementsAre("m.yaml:1:14: error: model_type: \"gpt_neoz\" is not modelled; describe its layers in a model "
                  "file with the nearest family"));
}

TEST(HuggingFace, TakesOptWithNormsBehind) {
  const std::string opt =
      "{model_type: opt, hidden_size: 64, num_attention_heads: 4, num_hidden_layers: 2, vocab_size: 100, ffn_dim: 256, "
      "max_position_embeddings: 128, do_layer_norm_before: false, word_embed_proj_dim: ";
  // OPT-350M's embedding is half as wide.
  EXPECT_THAT(errors_of(Example(opt + "32}").reading),
              ElementsAre(testing::HasSubstr("an embedding width other than the hidden size 64 is not modelled")));
  // h = 64: 2 (12 h^2 + 13 h) + (100 + 130) h, without a norm before the head
  EXPECT_EQ(parameter_count(build_operator_graph(Example(opt + "64}").model)), 2 * (49152 + 832) + 14720);
}

// As their classes in transformers assume what the config leaves out.
TEST(HuggingFace, TakesDefaultsOfTransformers) {
  const Example e("{model_type: gemma3_text, sequence: 512}");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.model.hidden, 2304);
  EXPECT_EQ(e.model.heads, 8);
  EXPECT_EQ(e.model.kv_heads, 4);
  EXPECT_EQ(e.model.layers, 26);
  EXPECT_EQ(e.model.vocabulary, 262208);
  EXPECT_EQ(e.model.intermediate, 9216);
  EXPECT_EQ(e.model.head_dim, 256);
  EXPECT_EQ(Example("{model_type: bert}").model.sequence, 512);
  EXPECT_EQ(Example("{model_type: gpt_bigcode}").model.intermediate, 3072);  // 4 times 768
}

TEST(HuggingFace, TakesPositionsBehindThePaddingOfRoberta) {
  const Transformer model = Example("{model_type: roberta, max_position_embeddings: 514}").model;
  EXPECT_EQ(model.sequence, 512);
  EXPECT_EQ(model.position_rows(), 514);
}

TEST(HuggingFace, TurnsTheShareOfAHead) {
  EXPECT_EQ(Example("{model_type: gptj, rotary_dim: 64}").model.traits.rotary_share, 0.25);  // heads of 256
  EXPECT_EQ(Example("{model_type: phi, rope_parameters: {partial_rotary_factor: 0.4}}").model.traits.rotary_share, 0.4);
  EXPECT_EQ(Example("{model_type: bloom}").model.traits.rotary_share, 0);
}

TEST(HuggingFace, BoundsScoresUnlessTheConfigDoesNot) {
  const Traits both = Example("{model_type: gemma2, sequence: 512}").model.traits;
  EXPECT_TRUE(both.score_cap && both.logit_cap);
  const Traits one = Example("{model_type: gemma2, sequence: 512, attn_logit_softcapping: null}").model.traits;
  EXPECT_TRUE(!one.score_cap && one.logit_cap);
  const Traits none = Example("{model_type: gemma3_text, sequence: 512}").model.traits;
  EXPECT_FALSE(none.score_cap || none.logit_cap);
}

TEST(HuggingFace, SharesKeysAndValuesByTheFlagsOfAConfig) {
  EXPECT_EQ(Example("{model_type: falcon, num_kv_heads: 71}").model.kv_heads, 1);
  EXPECT_EQ(Example("{model_type: falcon, multi_query: false}").model.kv_heads, 71);
  EXPECT_EQ(Example("{model_type: falcon, hidden_size: 8192, num_attention_heads: 128, num_kv_heads: 8, "
                    "new_decoder_architecture: true}")
                .model.kv_heads,
            8);
  EXPECT_EQ(Example("{model_type: gpt_bigcode, multi_query: false}").model.kv_heads, 12);
}

TEST(HuggingFace, ClassifiesByAHeadOfTheLabels) {
  const std::string bert = "{model_type: bert, architectures: [";
  EXPECT_EQ(Example(bert + "BertForMaskedLM], num_labels: 3}").model.classes, 0);
  EXPECT_EQ(Example(bert + "BertForSequenceClassification], num_labels: 3}").model.classes, 3);
  EXPECT_EQ(Example(bert + "BertForSequenceClassification]}").model.classes, 2);
  EXPECT_EQ(Example(bert + "BertForMaskedLM], classes: 5}").model.classes, 5);
  const Transformer tokens = Example(bert + "BertForTokenClassification], id2label: {0: a, 1: b, 2: c}}").model;
  EXPECT_EQ(tokens.classes, 3);
  EXPECT_TRUE(tokens.classifies_tokens);
}

TEST(HuggingFace, ReadsThePrecisionOfPublishedWeights) {
  const auto precision = [](const std::string& text) { return stated_precision(parse_yaml(text, "config.json")); };
  EXPECT_EQ(precision("{torch_dtype: bfloat16}"), Precision::kBf16);
  EXPECT_EQ(precision("{dtype: float16}"), Precision::kFp16);
  EXPECT_EQ(precision("{torch_dtype: torch.float32}"), Precision::kFp32);
  EXPECT_EQ(precision("{text_config: {dtype: bfloat16}}"), Precision::kBf16);
  EXPECT_EQ(precision("{torch_dtype: auto}"), std::nullopt);
  EXPECT_EQ(precision("{torch_dtype: [1], dtype: {a: b}}"), std::nullopt);
  EXPECT_THAT(errors_of([&] { precision("{torch_dtype: float8}"); }),
              ElementsAre("config.json:1:15: error: torch_dtype: \"float8\" is not modelled; float32, float16 and "
                          "bfloat16 are"));
}

// A misspelt size would leave the family's default in its place.
TEST(HuggingFace, RefusesMisspeltSizes) {
  EXPECT_THAT(
      errors_of(Example("{model_type: llama, hiden_size: 2048, num_hidden_layers: 16}").reading),
      ElementsAre("m.yaml:1:21: error: unknown key \"hiden_size\", and \"hidden_size\" is absent; did you mean it?"));
  EXPECT_THAT(errors_of(Example(std::string(kLlama) + ", hiden_size: 1, pad_token_id: 0}").reading), IsEmpty());
}

// Each is an error of its line; none ends the program.
TEST(HuggingFace, RefusesMalformedConfigs) {
  for (const char* text : {"{model_type: llama, hidden_size: [1]}",
                           "{model_type: llama, num_attention_heads: 0}",
                           "{model_type: llama, hidden_size: 100, num_attention_heads: 3}",
                           "{model_type: llama, num_hidden_layers: 1e300}",
                           "{model_type: llama, vocab_size: null}",
                           "{model_type: llama, vocab_size: -5}",
                           "{model_type: falcon, multi_query: {a: 1}}",
                           "{model_type: falcon, num_ln_in_parallel_attn: 7}",
                           "{model_type: mpt, expansion_ratio: x}",
                           "{model_type: gptj, rotary_dim: -1}",
                           "{model_type: bert, type_vocab_size: no}",
                           "{model_type: bert, num_labels: 0, architectures: [BertForSequenceClassification]}",
                           "{model_type: gemma3, text_config: {hidden_size: big}}",
                           "{model_type: [llama]}",
                           "{model_type: {a: b}}",
                           "{model_type: smollm3, sequence: 512, no_rope_layers: {a: 1}}",
                           "{model_type: mistral, sequence: 512, layer_types: sliding}",
                           "{model_type: gpt_neo, attention_types: {a: b}}",
                           "{model_type: gpt_neo, attention_types: [[[global], 1e9]]}",
                           "{model_type: llama, num_key_value_heads: 64}",
                           "{model_type: llama, head_dim: 0}"}) {
    const Example e(text);
    EXPECT_THAT(errors_of(e.reading), testing::Not(IsEmpty())) << text;
  }
}

}  // namespace
}  // namespace slmsim::hugging_face_test
