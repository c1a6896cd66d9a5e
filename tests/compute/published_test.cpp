// Parameters of published models against what transformers' num_parameters() counts of them, which is the total of their
// weight files on Hugging Face's hub; of Pythia the totals of its model cards. Configs hold what theirs hold of what counts.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/transformer.h"
#include "tests/errors_of.h"
#include "tests/word_name.h"

namespace slmsim::published_test {
namespace {

struct PublishedCount {
  const char* name;
  const char* config;
  double parameters;
};

const PublishedCount kPublished[] = {
    {"gpt2", R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
                 "vocab_size": 50257, "activation_function": "gelu_new", "resid_pdrop": 0.1, "attn_pdrop": 0.1})",
     124439808},
    {"gpt2-large", R"({"model_type": "gpt2", "n_embd": 1280, "n_head": 20, "n_layer": 36, "n_positions": 1024,
                       "vocab_size": 50257, "activation_function": "gelu_new"})",
     774030080},
    {"gpt2-xl", R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48, "n_positions": 1024,
                    "vocab_size": 50257, "n_inner": null})",
     1557611200},
    {"Llama-2-7b", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
                       "num_key_value_heads": 32, "num_hidden_layers": 32, "max_position_embeddings": 4096,
                       "vocab_size": 32000, "intermediate_size": 11008, "hidden_act": "silu",
                       "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false})",
     6738415616},
    {"Llama-2-13b", R"({"model_type": "llama", "hidden_size": 5120, "num_attention_heads": 40,
                        "num_hidden_layers": 40, "max_position_embeddings": 4096, "vocab_size": 32000,
                        "intermediate_size": 13824, "tie_word_embeddings": false})",
     13015864320},
    {"Meta-Llama-3-8B", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
                            "num_key_value_heads": 8, "num_hidden_layers": 32, "max_position_embeddings": 8192,
                            "vocab_size": 128256, "intermediate_size": 14336, "tie_word_embeddings": false})",
     8030261248},
    {"Llama-3.2-1B", R"({"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "head_dim": 64,
                         "num_key_value_heads": 8, "num_hidden_layers": 16, "max_position_embeddings": 131072,
                         "vocab_size": 128256, "intermediate_size": 8192, "tie_word_embeddings": true})",
     1235814400},
    {"Llama-3.2-3B", R"({"model_type": "llama", "hidden_size": 3072, "num_attention_heads": 24, "head_dim": 128,
                         "num_key_value_heads": 8, "num_hidden_layers": 28, "max_position_embeddings": 131072,
                         "vocab_size": 128256, "intermediate_size": 8192, "tie_word_embeddings": true})",
     3212749824},
    {"TinyLlama-1.1B", R"({"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32,
                           "num_key_value_heads": 4, "num_hidden_layers": 22, "max_position_embeddings": 2048,
                           "vocab_size": 32000, "intermediate_size": 5632, "tie_word_embeddings": false})",
     1100048384},
    {"SmolLM-135M", R"({"model_type": "llama", "hidden_size": 576, "num_attention_heads": 9,
                        "num_key_value_heads": 3, "num_hidden_layers": 30, "max_position_embeddings": 2048,
                        "vocab_size": 49152, "intermediate_size": 1536, "tie_word_embeddings": true})",
     134515008},
    {"SmolLM-360M", R"({"model_type": "llama", "hidden_size": 960, "num_attention_heads": 15,
                        "num_key_value_heads": 5, "num_hidden_layers": 32, "max_position_embeddings": 2048,
                        "vocab_size": 49152, "intermediate_size": 2560, "tie_word_embeddings": true})",
     361821120},
    {"Mistral-7B-v0.1", R"({"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32,
                            "num_key_value_heads": 8, "num_hidden_layers": 32, "max_position_embeddings": 32768,
                            "vocab_size": 32000, "intermediate_size": 14336, "sliding_window": 4096,
                            "tie_word_embeddings": false})",
     7241732096},
    {"Qwen2.5-0.5B", R"({"model_type": "qwen2", "hidden_size": 896, "num_attention_heads": 14,
                         "num_key_value_heads": 2, "num_hidden_layers": 24, "max_position_embeddings": 32768,
                         "vocab_size": 151936, "intermediate_size": 4864, "use_sliding_window": false,
                         "sliding_window": 32768, "tie_word_embeddings": true})",
     494032768},
    {"Qwen2.5-1.5B", R"({"model_type": "qwen2", "hidden_size": 1536, "num_attention_heads": 12,
                         "num_key_value_heads": 2, "num_hidden_layers": 28, "max_position_embeddings": 131072,
                         "vocab_size": 151936, "intermediate_size": 8960, "use_sliding_window": false,
                         "sliding_window": 131072, "tie_word_embeddings": true})",
     1543714304},
    {"Qwen3-0.6B", R"({"model_type": "qwen3", "hidden_size": 1024, "num_attention_heads": 16, "head_dim": 128,
                       "num_key_value_heads": 8, "num_hidden_layers": 28, "max_position_embeddings": 40960,
                       "vocab_size": 151936, "intermediate_size": 3072, "attention_bias": false,
                       "tie_word_embeddings": true})",
     596049920},
    {"Phi-3-mini-4k", R"({"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32,
                          "num_key_value_heads": 32, "num_hidden_layers": 32, "max_position_embeddings": 4096,
                          "vocab_size": 32064, "intermediate_size": 8192, "sliding_window": 2047,
                          "resid_pdrop": 0.0, "tie_word_embeddings": false})",
     3821079552},
    {"gemma-2b", R"({"model_type": "gemma", "hidden_size": 2048, "num_attention_heads": 8, "head_dim": 256,
                     "num_key_value_heads": 1, "num_hidden_layers": 18, "max_position_embeddings": 8192,
                     "vocab_size": 256000, "intermediate_size": 16384, "hidden_act": "gelu",
                     "hidden_activation": null})",
     2506172416},
    {"gemma-7b", R"({"model_type": "gemma", "hidden_size": 3072, "num_attention_heads": 16, "head_dim": 256,
                     "num_key_value_heads": 16, "num_hidden_layers": 28, "max_position_embeddings": 8192,
                     "vocab_size": 256000, "intermediate_size": 24576})",
     8537680896},
    {"gemma-2-2b", R"({"model_type": "gemma2", "hidden_size": 2304, "num_attention_heads": 8, "head_dim": 256,
                       "num_key_value_heads": 4, "num_hidden_layers": 26, "max_position_embeddings": 8192,
                       "vocab_size": 256000, "intermediate_size": 9216, "sliding_window": 4096,
                       "hidden_activation": "gelu_pytorch_tanh"})",
     2614341888},
    {"opt-125m", R"({"model_type": "opt", "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12,
                     "max_position_embeddings": 2048, "vocab_size": 50272, "ffn_dim": 3072, "dropout": 0.1,
                     "attention_dropout": 0.0, "activation_function": "relu", "do_layer_norm_before": true,
                     "word_embed_proj_dim": 768})",
     125239296},
    {"opt-1.3b", R"({"model_type": "opt", "hidden_size": 2048, "num_attention_heads": 32, "num_hidden_layers": 24,
                     "max_position_embeddings": 2048, "vocab_size": 50272, "ffn_dim": 8192,
                     "word_embed_proj_dim": 2048})",
     1315758080},
    {"pythia-70m", R"({"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8,
                       "num_hidden_layers": 6, "max_position_embeddings": 2048, "vocab_size": 50304,
                       "intermediate_size": 2048, "rotary_pct": 0.25, "use_parallel_residual": true,
                       "tie_word_embeddings": false})",
     70426624},
    {"pythia-160m", R"({"model_type": "gpt_neox", "hidden_size": 768, "num_attention_heads": 12,
                        "num_hidden_layers": 12, "max_position_embeddings": 2048, "vocab_size": 50304,
                        "intermediate_size": 3072, "rotary_pct": 0.25, "tie_word_embeddings": false})",
     162322944},
    {"pythia-1.4b", R"({"model_type": "gpt_neox", "hidden_size": 2048, "num_attention_heads": 16,
                        "num_hidden_layers": 24, "max_position_embeddings": 2048, "vocab_size": 50304,
                        "intermediate_size": 8192, "rotary_pct": 0.25, "tie_word_embeddings": false})",
     1414647808}};

class PublishedModel : public testing::TestWithParam<PublishedCount> {};

TEST_P(PublishedModel, HasTheParametersThatItsAuthorsCount) {
  Reading reading;
  // Sequences that are shorter than the longest possible ones, and than any window.
  Node config = parse_yaml(GetParam().config, "config.json");
  merge(config, parse_yaml("{sequence: 512}", "--set"));
  const Transformer model = read_transformer(config, "models.0", GetParam().name, reading);
  EXPECT_THAT(errors_of(reading), testing::IsEmpty());
  EXPECT_EQ(parameter_count(build_operator_graph(model)), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(Each, PublishedModel, testing::ValuesIn(kPublished),
                         [](const auto& model) { return word_name(model.param.name); });

struct Shipped {
  const char* file;
  double parameters;
};

class ShippedModel : public testing::TestWithParam<Shipped> {};

TEST_P(ShippedModel, HasTheParametersThatItsAuthorsCount) {
  Reading reading;
  const Node node = read_yaml(std::string(SLMSIM_SOURCE_DIR "/models/") + GetParam().file + ".yaml");
  const Transformer model = read_transformer(node, "models.0", "", reading);
  EXPECT_THAT(errors_of(reading), testing::IsEmpty());
  EXPECT_EQ(parameter_count(build_operator_graph(model)), GetParam().parameters);
}

// Their sums and sources stand in the files.
const Shipped kShipped[] = {{"gpt2", 124439808},          {"gpt2-medium", 354823168}, {"gpt2-large", 774030080},
                            {"gpt2-xl", 1557611200},      {"llama-160m", 162417408},  {"tinyllama-1.1b", 1100048384},
                            {"smollm-135m", 134515008},   {"smollm-360m", 361821120}, {"qwen2.5-0.5b", 494032768},
                            {"llama-3.2-1b", 1235814400}, {"pythia-70m", 70426624},   {"pythia-160m", 162322944},
                            {"pythia-410m", 405334016},   {"pythia-1b", 1011781632},  {"pythia-1.4b", 1414647808},
                            {"pythia-2.8b", 2775208960}};

INSTANTIATE_TEST_SUITE_P(Each, ShippedModel, testing::ValuesIn(kShipped),
                         [](const auto& model) { return word_name(model.param.file); });

}  // namespace
}  // namespace slmsim::published_test
