// Parameters of published models of each family, as transformers' num_parameters() counts them: about half are totals that
// their publishers state, the others sums by hand of what the modelling code holds.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/transformer.h"
#include "tests/errors_of.h"
#include "tests/word_name.h"

namespace slmsim::published_family_test {
namespace {

struct PublishedCount {
  const char* name;
  const char* config;  // the keys of the model's config.json that count
  double parameters;
};

// h: hidden size, w: width of the MLP, V: vocabulary, L: layers.
const PublishedCount kPublished[] = {
    // 16 (4 h^2 + 3 h w) + V h: no parameters in norms
    {"OLMo-1B",
     "{model_type: olmo, hidden_size: 2048, num_attention_heads: 16, num_key_value_heads: 16, num_hidden_layers: 16, "
     "intermediate_size: 8192, vocab_size: 50304, tie_word_embeddings: true, attention_bias: false}",
     1176764416},
    {"OLMo-7B", "{model_type: olmo, vocab_size: 50304, tie_word_embeddings: false}", 6888095744},
    // 16 (4 h^2 + 3 h w + 2 h + 2 h) + 2 V h + h: norms of branches, of all queries and of all keys
    {"OLMo-2-0425-1B",
     "{model_type: olmo2, hidden_size: 2048, num_attention_heads: 16, num_hidden_layers: 16, intermediate_size: 8192, "
     "vocab_size: 100352}",
     1484916736},
    {"OLMo-2-1124-7B", "{model_type: olmo2, vocab_size: 100352, max_position_embeddings: 4096}", 7298617344},
    {"Olmo-3-1025-7B", "{model_type: olmo3, vocab_size: 100278, sliding_window: 4096}", 7298011136},
    {"SmolLM3-3B",
     "{model_type: smollm3, hidden_size: 2048, num_attention_heads: 16, num_key_value_heads: 4, num_hidden_layers: 36, "
     "intermediate_size: 11008, vocab_size: 128256, no_rope_layer_interval: 4, use_sliding_window: false}",
     3075098624},
    // 30 (2.5 h^2 + 3 h w + 2 h + 2 x 64) + V h + h: norms of branches, and of queries and keys per head
    {"EXAONE-4.0-1.2B",
     "{model_type: exaone4, hidden_size: 2048, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 64, "
     "num_hidden_layers: 30, intermediate_size: 4096, max_position_embeddings: 65536, sliding_window: null, "
     "tie_word_embeddings: true}",
     1279391488},
    {"EXAONE-3.5-2.4B",
     "{model_type: exaone, hidden_size: 2560, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 80, "
     "num_layers: 30, intermediate_size: 7168, vocab_size: 102400, tie_word_embeddings: true}",
     2405327360},
    {"ERNIE-4.5-0.3B", "{model_type: ernie4_5, use_bias: false}", 360748032},
    {"Hunyuan-0.5B",
     "{model_type: hunyuan_v1_dense, hidden_size: 1024, num_attention_heads: 16, num_key_value_heads: 8, head_dim: "
     "128, "
     "num_hidden_layers: 24, intermediate_size: 3584, vocab_size: 120818, tie_word_embeddings: true}",
     539010048},
    {"Seed-OSS-36B", "{model_type: seed_oss, hidden_size: 5120}", 36151104512},
    {"internlm3-8b",
     "{model_type: internlm3, num_key_value_heads: 2, num_hidden_layers: 48, intermediate_size: 10240, bias: false}",
     8804241408},
    {"Baichuan-7B", "{model_type: baichuan, vocab_size: 64000}", 7000559616},
    // 24 (4 h^2 + 3 h w + 2 h) + 2 V h + h
    {"helium-1-preview-2b", "{model_type: helium}", 2172643840},
    // 36 (2.4 h^2 + 2 h w + 2 h) + 2 V h + h: the MLP has no gate
    {"AFM-4.5B",
     "{model_type: arcee, hidden_size: 2560, num_attention_heads: 20, num_key_value_heads: 4, num_hidden_layers: 36, "
     "vocab_size: 128004, max_position_embeddings: 65536}",
     4619184640},
    // Less xIELU's two parameters of each layer: 8053338176
    {"Apertus-8B",
     "{model_type: apertus, num_key_value_heads: 8, intermediate_size: 21504, hidden_act: xielu, qk_norm: true}",
     8053338112},
    {"granite-3.0-2b",
     "{model_type: granite, hidden_size: 2048, num_attention_heads: 32, num_key_value_heads: 8, num_hidden_layers: 40, "
     "intermediate_size: 8192, vocab_size: 49155, tie_word_embeddings: true}",
     2533531648},
    {"granite-3.1-8b",
     "{model_type: granite, num_key_value_heads: 8, num_hidden_layers: 40, intermediate_size: 12800, "
     "vocab_size: 49155, tie_word_embeddings: true}",
     8170848256},
    // 24 (4 h^2 + 3 h + 3 h w + 4 h) + 2 V h + 2 h
    {"stablelm-2-1_6b",
     "{model_type: stablelm, hidden_size: 2048, num_attention_heads: 32, num_key_value_heads: 32, "
     "num_hidden_layers: 24, intermediate_size: 5632, vocab_size: 100352, use_qkv_bias: true}",
     1644515328},
    {"stablelm-3b-4e1t", "{model_type: stablelm, vocab_size: 50304, use_qkv_bias: false}", 2795443200},
    // One norm a layer, and scales for each head of 160: 40 (2.5 h^2 + 3 h w + 2 h + 40 x 160) + 2 V h + 2 h
    {"stablelm-2-12b",
     "{model_type: stablelm, hidden_size: 5120, num_attention_heads: 32, num_key_value_heads: 8, "
     "num_hidden_layers: 40, intermediate_size: 13824, vocab_size: 100352, qk_layernorm: true, "
     "use_parallel_residual: true}",
     12143185920},
    // 24 (12 h^2 + 9 h + 2 h) + 2 V h + V + 2 h
    {"phi-1_5", "{model_type: phi, hidden_size: 2048, num_hidden_layers: 24, vocab_size: 51200}", 1418270720},
    {"phi-2",
     "{model_type: phi, hidden_size: 2560, num_attention_heads: 32, num_hidden_layers: 32, intermediate_size: 10240, "
     "vocab_size: 51200, partial_rotary_factor: 0.4, resid_pdrop: 0.1, qk_layernorm: false}",
     2779683840},
    {"Phi-4-mini",
     "{model_type: phi3, hidden_size: 3072, num_attention_heads: 24, num_key_value_heads: 8, vocab_size: 200064, "
     "partial_rotary_factor: 0.75, sliding_window: 262144, tie_word_embeddings: true}",
     3836021760},
    {"phi-4",
     "{model_type: phi3, hidden_size: 5120, num_attention_heads: 40, num_key_value_heads: 10, num_hidden_layers: 40, "
     "intermediate_size: 17920, vocab_size: 100352, sliding_window: null}",
     14659507200},
    // One head of keys and values, although num_kv_heads is 71: 32 (2 h^2 + 2 x 64 h + 8 h^2 + 2 h) + V h + 2 h. The
    // weight files repeat the tied table.
    {"falcon-7b",
     "{model_type: falcon, hidden_size: 4544, num_attention_heads: 71, num_hidden_layers: 32, num_kv_heads: 71, "
     "vocab_size: 65024, multi_query: true, new_decoder_architecture: false, parallel_attn: true, bias: false}",
     6921720704},
    {"falcon-40b",
     "{model_type: falcon, hidden_size: 8192, num_attention_heads: 128, num_hidden_layers: 60, num_kv_heads: 8, "
     "vocab_size: 65024, multi_query: true, new_decoder_architecture: true, parallel_attn: true}",
     41303293952},
    {"falcon-rw-1b",
     "{model_type: falcon, hidden_size: 2048, n_head: 32, n_layer: 24, vocab_size: 50304, alibi: true, bias: true, "
     "multi_query: false, parallel_attn: false}",
     1311625216},
    // 24 (12 h^2 + 13 h) + V h + 2 h + 2 h
    {"bloom-560m", "{model_type: bloom, n_embed: 1024, n_head: 16, n_layer: 24, vocab_size: 250880}", 559214592},
    {"bloom-1b7",
     "{model_type: bloom, hidden_size: 2048, num_attention_heads: 16, n_layer: 24, vocab_size: 250880, n_inner: null}",
     1722408960},
    // 32 (12 h^2 + 2 h) + V h + h
    {"mpt-7b",
     "{model_type: mpt, d_model: 4096, n_heads: 32, n_layers: 32, expansion_ratio: 4, max_seq_len: 2048, "
     "vocab_size: 50432, no_bias: true, attn_config: {alibi: true, attn_pdrop: 0}}",
     6649286656},
    // 28 (12 h^2 + 5 h + 2 h) + 2 V h + V + 2 h
    {"gpt-j-6b",
     "{model_type: gptj, n_embd: 4096, n_head: 16, n_layer: 28, n_positions: 2048, rotary_dim: 64, n_inner: null, "
     "vocab_size: 50400, tie_word_embeddings: false}",
     6050882784},
    {"codegen-350M", "{model_type: codegen, n_embd: 1024, n_head: 16, n_layer: 20, rotary_dim: 32, vocab_size: 51200}",
     356712448},
    // L (12 h^2 + 10 h) + (V + 2048) h + 2 h
    {"gpt-neo-125m",
     "{model_type: gpt_neo, hidden_size: 768, num_heads: 12, num_layers: 12, max_position_embeddings: 2048, "
     "vocab_size: 50257, window_size: 256, intermediate_size: null, attention_types: [[[global, local], 6]]}",
     125198592},
    {"gpt-neo-1.3B", "{model_type: gpt_neo, attention_types: [[[global, local], 12]]}", 1315575808},
    {"gpt-neo-2.7B", "{model_type: gpt_neo, hidden_size: 2560, num_heads: 20, num_layers: 32}", 2651307520},
    // One head of 128 for keys and values.
    {"starcoderbase-1b",
     "{model_type: gpt_bigcode, n_embd: 2048, n_head: 16, n_layer: 24, n_inner: 8192, n_positions: 8192, "
     "vocab_size: 49152, multi_query: true}",
     1137207296},
    {"starcoder",
     "{model_type: gpt_bigcode, n_embd: 6144, n_head: 48, n_layer: 40, n_inner: 24576, n_positions: 8192, "
     "vocab_size: 49152}",
     15517456384},
    {"starcoder2-3b",
     "{model_type: starcoder2, hidden_size: 3072, num_attention_heads: 24, num_key_value_heads: 2, "
     "num_hidden_layers: 30, intermediate_size: 12288, vocab_size: 49152, sliding_window: 4096, use_bias: true}",
     3030371328},
    {"starcoder2-7b",
     "{model_type: starcoder2, hidden_size: 4608, num_attention_heads: 36, num_key_value_heads: 4, "
     "num_hidden_layers: 32, intermediate_size: 18432, vocab_size: 49152, sliding_window: 4096}",
     7173923840},
    {"internlm-7b", "{model_type: internlm, vocab_size: 103168, bias: true}", 7321948160},
    {"internlm2-1_8b",
     "{model_type: internlm2, hidden_size: 2048, num_attention_heads: 16, num_key_value_heads: 8, "
     "num_hidden_layers: 24, intermediate_size: 8192, vocab_size: 92544, bias: false}",
     1889110016},
    {"MiniCPM-2B",
     "{model_type: minicpm, hidden_size: 2304, num_attention_heads: 36, num_key_value_heads: 36, "
     "num_hidden_layers: 40, intermediate_size: 5760, vocab_size: 122753}",
     2724880896},
    // 40 (4 h^2 + 3 h w + h) + V h + h
    {"c4ai-command-r-v01", "{model_type: cohere, num_key_value_heads: 64, use_qk_norm: false}", 34980831232},
    {"c4ai-command-r-plus",
     "{model_type: cohere, hidden_size: 12288, num_attention_heads: 96, num_key_value_heads: 8, "
     "num_hidden_layers: 64, intermediate_size: 33792, vocab_size: 256000, use_qk_norm: true}",
     103810674688},
    {"c4ai-command-r7b",
     "{model_type: cohere2, hidden_size: 4096, num_attention_heads: 32, num_key_value_heads: 8, "
     "num_hidden_layers: 32, intermediate_size: 14336, vocab_size: 256000, sliding_window: 4096}",
     8028033024},
    // 36 (12 h^2 + 13 h + 4 x 64) + 2 V h + 2 h
    {"persimmon-8b", "{model_type: persimmon}", 9397175296},
    {"gemma-3-270m",
     "{model_type: gemma3_text, hidden_size: 640, num_attention_heads: 4, num_key_value_heads: 1, head_dim: 256, "
     "num_hidden_layers: 18, intermediate_size: 2048, vocab_size: 262144, sliding_window: 512}",
     268098176},
    {"gemma-3-1b",
     "{model_type: gemma3_text, hidden_size: 1152, num_attention_heads: 4, num_key_value_heads: 1, head_dim: 256, "
     "num_hidden_layers: 26, intermediate_size: 6912, vocab_size: 262144, sliding_window: 512}",
     999885952},
    // The text model of one of images and text, whose config leaves out what is as in its class.
    {"gemma-3-4b",
     "{model_type: gemma3, architectures: [Gemma3ForConditionalGeneration], vision_config: {hidden_size: 1152}, "
     "text_config: {model_type: gemma3_text, hidden_size: 2560, intermediate_size: 10240, num_hidden_layers: 34, "
     "sliding_window: 1024}}",
     3880263168},
    {"gemma-2-9b",
     "{model_type: gemma2, hidden_size: 3584, num_attention_heads: 16, num_key_value_heads: 8, head_dim: 256, "
     "num_hidden_layers: 42, intermediate_size: 14336, vocab_size: 256000}",
     9241705984},
    {"Qwen3-1.7B",
     "{model_type: qwen3, hidden_size: 2048, num_attention_heads: 16, num_key_value_heads: 8, num_hidden_layers: 28, "
     "intermediate_size: 6144, vocab_size: 151936, tie_word_embeddings: true}",
     1720574976},
    {"Qwen3-8B",
     "{model_type: qwen3, num_key_value_heads: 8, num_hidden_layers: 36, intermediate_size: 12288, "
     "sliding_window: null, use_sliding_window: false, max_window_layers: 36}",
     8190735360},
    // 32 (q 3072 x 3072, k and v 3072 x 1024, out as q; 2 h w; 4 h) + 2 V h + 2 h
    {"Minitron-4B",
     "{model_type: nemotron, hidden_size: 3072, num_attention_heads: 24, num_key_value_heads: 8, head_dim: 128, "
     "num_hidden_layers: 32, intermediate_size: 9216, vocab_size: 256000, hidden_act: relu2}",
     4190509056},
    {"glm-4-9b-hf", "{model_type: glm, attention_bias: true}", 9399951360},
    {"GLM-4-9B-0414", "{model_type: glm4, attention_bias: false}", 9400094720},
    // 24 (12 h^2 + 13 h) + V h + 2 h
    {"xglm-564M",
     "{model_type: xglm, d_model: 1024, attention_heads: 16, num_layers: 24, ffn_dim: 4096, vocab_size: 256008}",
     564463616},
    // 12 (12 h^2 + 13 h) + (V + 512) h: no norm before the head
    {"openai-gpt", "{model_type: openai-gpt, n_embd: 768, n_head: 12, n_layer: 12, vocab_size: 40478, afn: gelu}",
     116534784},
    // 12 (12 h^2 + 13 h) + (V + 512 + 2) h + 2 h; the head h^2 + h + 2 h + V
    {"bert-base-uncased", "{model_type: bert, architectures: [BertForMaskedLM], type_vocab_size: 2, vocab_size: 30522}",
     109514298},
    {"bert-large-uncased",
     "{model_type: bert, hidden_size: 1024, num_attention_heads: 16, num_hidden_layers: 24, intermediate_size: 4096}",
     335174458},
    {"roberta-base", "{model_type: roberta, max_position_embeddings: 514, type_vocab_size: 1, vocab_size: 50265}",
     124697433},
    {"roberta-large",
     "{model_type: roberta, hidden_size: 1024, num_attention_heads: 16, num_hidden_layers: 24, "
     "intermediate_size: 4096, max_position_embeddings: 514, type_vocab_size: 1, vocab_size: 50265}",
     355412057},
    {"xlm-roberta-base",
     "{model_type: xlm-roberta, max_position_embeddings: 514, type_vocab_size: 1, vocab_size: 250002}", 278295186},
    {"camembert-base", "{model_type: camembert, max_position_embeddings: 514, type_vocab_size: 1, vocab_size: 32005}",
     110655493},
    {"distilbert-base-uncased",
     "{model_type: distilbert, dim: 768, n_heads: 12, n_layers: 6, hidden_dim: 3072, vocab_size: 30522}", 66985530},
    // 12 (12 h^2 + 13 h) + (V + 514) h + 2 h; the head h^2 + h + 2 h + 2
    {"bert-of-two-classes", "{model_type: bert, architectures: [BertForSequenceClassification]}", 109483778},
    {"distilbert-sst-2",
     "{model_type: distilbert, architectures: [DistilBertForSequenceClassification], "
     "id2label: {0: NEGATIVE, 1: POSITIVE}}",
     66955010},
    {"roberta-of-two-classes",
     "{model_type: roberta, architectures: [RobertaForSequenceClassification], max_position_embeddings: 514, "
     "type_vocab_size: 1, vocab_size: 50265, num_labels: 2}",
     124647170},
    // The table of Llama 3.2 of 1 B without a second use, and 3 x 2048.
    {"llama-of-three-classes",
     "{model_type: llama, architectures: [LlamaForSequenceClassification], hidden_size: 2048, "
     "num_attention_heads: 32, head_dim: 64, num_key_value_heads: 8, num_hidden_layers: 16, vocab_size: 128256, "
     "intermediate_size: 8192, tie_word_embeddings: true, id2label: {0: a, 1: b, 2: c}}",
     1235820544}};

class PublishedFamily : public testing::TestWithParam<PublishedCount> {};

TEST_P(PublishedFamily, HasTheParametersThatItsAuthorsCount) {
  Reading reading;
  Node config = parse_yaml(GetParam().config, "config.json");
  merge(config, parse_yaml("{sequence: 512}", "--set"));
  const Transformer model = read_transformer(config, "models.0", GetParam().name, reading);
  EXPECT_THAT(errors_of(reading), testing::IsEmpty());
  const OperatorGraph graph = build_operator_graph(model);
  EXPECT_EQ(parameter_count(graph), GetParam().parameters);
  EXPECT_EQ(trained_count(graph), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(Each, PublishedFamily, testing::ValuesIn(kPublished),
                         [](const auto& model) { return word_name(model.param.name); });

// Steps of transformers' own classes, which counted their parameters. Steps with adapters count these too.
TEST(FamiliesOfTransformers, HaveTheParametersThatTheirClassesCount) {
  const Node steps = read_yaml(SLMSIM_SOURCE_DIR "/tests/reference/h200/families/steps.json");
  std::set<std::string> families;
  for (const Node& step : steps.items) {
    if (step.find("lora")->scalar != "0" || step.find("status")->scalar != "ok") continue;
    Reading reading;
    Node config = *step.find("config");
    merge(config, parse_yaml("{sequence: " + step.find("sequence")->scalar + "}", "--set"));
    const Transformer model = read_transformer(config, "models.0", step.find("name")->scalar, reading);
    EXPECT_THAT(errors_of(reading), testing::IsEmpty());
    EXPECT_EQ(parameter_count(build_operator_graph(model)), std::stod(step.find("parameters")->scalar)) << model.name;
    families.insert(config.find("model_type")->scalar);
  }
  EXPECT_EQ(families.size(), 34U);
}

}  // namespace
}  // namespace slmsim::published_family_test
