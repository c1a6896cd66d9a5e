#include "sim/compute/transformer.h"

namespace slmsim {
namespace {

// Second names common to most configs.
SecondNames usual(const SecondNames& others = {}) {
  SecondNames names = {{"hidden", "hidden_size"},
                       {"heads", "num_attention_heads"},
                       {"layers", "num_hidden_layers"},
                       {"sequence", "max_position_embeddings"},
                       {"positions", "max_position_embeddings"},
                       {"vocabulary", "vocab_size"},
                       {"kv_heads", "num_key_value_heads"},
                       {"intermediate", "intermediate_size"},
                       {"activation", "hidden_act"},
                       {"window", "sliding_window"},
                       {"tied_embedding", "tie_word_embeddings"}};
  for (const auto& [own, theirs] : others) names[own] = theirs;
  return names;
}

// Keys of GPT-2 and of families that use its names.
SecondNames gpt2_names(const char* activation = "activation_function") {
  return {{"hidden", "n_embd"},
          {"heads", "n_head"},
          {"layers", "n_layer"},
          {"sequence", "n_positions"},
          {"positions", "n_positions"},
          {"vocabulary", "vocab_size"},
          {"intermediate", "n_inner"},
          {"activation", activation},
          {"tied_embedding", "tie_word_embeddings"},
          {"dropout", "resid_pdrop"},
          {"attention_dropout", "attn_pdrop"}};
}

template <class Change>
constexpr Traits with(Traits traits, Change change) {
  change(traits);
  return traits;
}

constexpr Traits kGpt2Traits{.learned_positions = true,
                             .qkv_bias = true,
                             .projection_bias = true,
                             .mlp_bias = true,
                             .joint_qkv = true,
                             .activation = Activation::kGelu,
                             .dropout = true};
constexpr Traits kLlamaTraits{
    .rms_norm = true, .norm_vectors = 1, .grouped = true, .gated = true, .tied_embedding = false};
constexpr Traits kGptNeoXTraits = with(kGpt2Traits, [](Traits& t) {
  t.learned_positions = t.tied_embedding = t.dropout = false;
  t.rotary_share = 0.25;
  t.parallel = true;
});
constexpr Traits kGemmaTraits =
    with(kLlamaTraits, [](Traits& t) { t.activation = Activation::kGelu, t.tied_embedding = true; });
constexpr Traits kOlmo2Traits = with(
    kLlamaTraits, [](Traits& t) { t.norm_before = false, t.branch_norm = true, t.query_norm = QueryNorm::kWhole; });
constexpr Traits kCohereTraits =
    with(kLlamaTraits, [](Traits& t) { t.rms_norm = false, t.parallel = t.shared_norm = t.tied_embedding = true; });
constexpr Traits kGptJTraits = with(kGptNeoXTraits, [](Traits& t) {
  t.qkv_bias = t.projection_bias = t.joint_qkv = false;
  t.activation = Activation::kGeluNew;
  t.head_bias = t.shared_norm = true;
});
constexpr Traits kGlmTraits =
    with(kLlamaTraits, [](Traits& t) { t.qkv_bias = t.joint_gate = t.norm_casts_first = true, t.rotary_share = 0.5; });
constexpr Traits kBertTraits = with(kGpt2Traits, [](Traits& t) {
  t.token_types = 2;
  t.norm_before = t.causal = t.joint_qkv = false;
  t.norm_behind = t.embedding_norm = t.head_bias = true;
});
constexpr Traits kRobertaTraits = with(kBertTraits, [](Traits& t) { t.position_offset = 2; });

constexpr UsualSizes kLlama7b = {4096, 32, 0, 32, 2048, 32000, 11008}, kBertBase = {768, 12, 0, 12, 512, 30522, 3072};

// Second names of configs that state whether attention's products have biases.
SecondNames with_attention_bias(SecondNames others = {}) {
  others.insert({{"qkv_bias", "attention_bias"}, {"projection_bias", "attention_bias"}});
  return usual(others);
}

// Second names of configs in which one key states the biases of all products.
SecondNames with_bias(const char* key, SecondNames others = {}) {
  others.insert({{"qkv_bias", key}, {"projection_bias", key}, {"mlp_bias", key}});
  return usual(others);
}

SecondNames bert_names() {
  return usual({{"dropout", "hidden_dropout_prob"}, {"attention_dropout", "attention_probs_dropout_prob"}});
}

// A key that states whether queries and keys have norms.
template <QueryNorm kind, int vectors = 1>
ConfigFlag query_norm(const char* key, bool fallback = false) {
  return {key, "Whether queries and keys have norms.", fallback, [](Transformer& model, bool value) {
            model.traits.query_norm = value ? kind : QueryNorm::kNone;
            model.traits.query_norm_vectors = vectors;
          }};
}

constexpr ConfigFlag kMultiQuery = {"multi_query", "Whether all heads share their keys and values.", true,
                                    [](Transformer& model, bool value) { model.kv_heads = value ? 1 : 0; }};

const std::vector<ConfigFlag>& falcon_flags() {
  static const std::vector<ConfigFlag> kFlags = {
      kMultiQuery,
      {"parallel_attn", "Whether attention and MLP are parallel, with the same norm.", true,
       [](Transformer& model, bool value) { model.traits.parallel = model.traits.shared_norm = value; }},
      {"new_decoder_architecture", "Whether heads share keys and values in groups; parallel branches have own norms.",
       false,
       [](Transformer& model, bool value) {
         if (!value) return;
         model.kv_heads = 0;
         model.traits.parallel = true;
         model.traits.shared_norm = false;
       }},
      {"alibi", "Whether positions are biases of the scores.", false,
       [](Transformer& model, bool value) { model.traits.rotary_share = value ? 0 : 1; }}};
  return kFlags;
}

}  // namespace

const std::vector<FamilyRow>& family_table() {  // NOLINT(readability-function-size): a table
  static const std::vector<FamilyRow> kRows = {
      {.name = "gpt2", .traits = kGpt2Traits, .hugging_face = gpt2_names(), .sizes = {768, 12, 0, 12, 1024, 50257, 0}},
      {.name = "llama", .traits = kLlamaTraits, .hugging_face = with_attention_bias(), .sizes = kLlama7b},
      {.name = "mistral",
       .traits = kLlamaTraits,
       .hugging_face = usual(),
       .sizes = {4096, 32, 8, 32, 131072, 32000, 14336},
       .windows = {.possible = true, .tokens = 4096}},
      {.name = "qwen2",
       .traits = with(kLlamaTraits, [](Traits& t) { t.qkv_bias = true; }),
       .hugging_face = usual(),
       .sizes = {4096, 32, 32, 32, 32768, 151936, 22016},
       .windows = {.possible = true, .if_asked = true, .tokens = 4096}},
      {.name = "qwen3",
       .traits = with(kLlamaTraits, [](Traits& t) { t.query_norm = QueryNorm::kShared, t.norm_casts_first = true; }),
       .hugging_face = with_attention_bias(),
       .sizes = {4096, 32, 32, 32, 32768, 151936, 22016, 128},
       .windows = {.possible = true, .if_asked = true, .tokens = 4096}},
      {.name = "phi3",
       .traits = with(kLlamaTraits, [](Traits& t) { t.joint_qkv = t.joint_gate = true; }),
       .hugging_face = usual({{"rotary_share", "partial_rotary_factor"}, {"dropout", "resid_pdrop"}}),
       .sizes = {3072, 32, 0, 32, 4096, 32064, 8192},
       .windows = {.possible = true}},
      {.name = "gemma",
       .traits = kGemmaTraits,
       .hugging_face = with_attention_bias({{"activation", "hidden_activation"}}),
       .sizes = {3072, 16, 16, 28, 8192, 256000, 24576, 256}},
      {.name = "gemma2",
       .traits = with(kGemmaTraits, [](Traits& t) { t.branch_norm = t.score_cap = t.logit_cap = true; }),
       .hugging_face = with_attention_bias({{"activation", "hidden_activation"}}),
       .sizes = {2304, 8, 4, 26, 8192, 256000, 9216, 256},
       .windows = {.possible = true, .tokens = 4096, .full_every = 2}},
      {.name = "gemma3_text",
       .traits = with(kGemmaTraits,
                      [](Traits& t) {
                        t.branch_norm = true;
                        t.query_norm = QueryNorm::kShared;
                      }),
       .hugging_face = with_attention_bias(
           {{"activation", "hidden_activation"}, {"full_attention_every", "sliding_window_pattern"}}),
       .sizes = {2304, 8, 4, 26, 131072, 262208, 9216, 256},
       .windows = {.possible = true, .tokens = 4096, .full_every = 6}},
      {.name = "opt",
       .traits = with(kGpt2Traits,
                      [](Traits& t) { t.position_offset = 2, t.joint_qkv = false, t.activation = Activation::kRelu; }),
       .hugging_face = with_bias(
           "enable_bias", {{"intermediate", "ffn_dim"}, {"activation", "activation_function"}, {"dropout", "dropout"}}),
       .sizes = {768, 12, 0, 12, 2048, 50272, 3072},
       .flags = {{"do_layer_norm_before", "Whether norms come before attention and MLP.", true,
                  [](Transformer& model, bool value) {
                    model.traits.norm_before = value;
                    model.traits.norm_behind = !value;
                  }}}},
      {.name = "gpt_neox",
       .traits = kGptNeoXTraits,
       .hugging_face = with_attention_bias(
           {{"rotary_share", "rotary_pct"}, {"parallel", "use_parallel_residual"}, {"dropout", "hidden_dropout"}}),
       .sizes = {6144, 64, 0, 44, 2048, 50432, 24576}},
      {.name = "olmo",
       .traits = with(kLlamaTraits, [](Traits& t) { t.rms_norm = false, t.norm_vectors = 0; }),
       .hugging_face = with_attention_bias(),
       .sizes = {4096, 32, 0, 32, 2048, 50304, 11008}},
      {.name = "olmo2",
       .traits = kOlmo2Traits,
       .hugging_face = with_attention_bias(),
       .sizes = {4096, 32, 0, 32, 2048, 50304, 11008}},
      {.name = "olmo3",
       .traits = kOlmo2Traits,
       .hugging_face = with_attention_bias(),
       .sizes = {4096, 32, 0, 32, 2048, 50304, 11008},
       .windows = {.possible = true, .tokens = 4096, .full_every = 4}},
      {.name = "smollm3",
       .traits = with(kLlamaTraits, [](Traits& t) { t.tied_embedding = true; }),
       .hugging_face = with_attention_bias(),
       .sizes = {2048, 16, 4, 36, 32768, 128256, 11008},
       .windows = {.possible = true, .if_asked = true}},
      {.name = "granite", .traits = kLlamaTraits, .hugging_face = with_attention_bias(), .sizes = kLlama7b},
      {.name = "stablelm",
       .traits = with(kLlamaTraits,
                      [](Traits& t) {
                        t.rms_norm = false;
                        t.norm_vectors = 2;
                        t.rotary_share = 0.25;
                      }),
       .hugging_face = usual(
           {{"rotary_share", "partial_rotary_factor"}, {"qkv_bias", "use_qkv_bias"}, {"dropout", "hidden_dropout"}}),
       .sizes = {2560, 32, 32, 32, 4096, 50304, 6912},
       .flags = {query_norm<QueryNorm::kWhole>("qk_layernorm"),
                 {"use_parallel_residual", "Whether attention and MLP are parallel, with the same norm.", false,
                  [](Transformer& model, bool value) { model.traits.parallel = model.traits.shared_norm = value; }}}},
      {.name = "starcoder2",
       .traits = with(kGpt2Traits,
                      [](Traits& t) {
                        t.learned_positions = t.dropout = t.joint_qkv = false;
                        t.grouped = true;
                      }),
       .hugging_face = with_bias("use_bias", {{"dropout", "residual_dropout"}}),
       .sizes = {3072, 24, 2, 30, 4096, 49152, 12288},
       .windows = {.possible = true}},
      {.name = "internlm",
       .traits = with(kLlamaTraits, [](Traits& t) { t.qkv_bias = t.projection_bias = true; }),
       .hugging_face = usual({{"qkv_bias", "bias"}, {"projection_bias", "bias"}}),
       .sizes = {4096, 32, 0, 32, 2048, 103168, 11008}},
      {.name = "internlm2",
       .traits = with(kLlamaTraits, [](Traits& t) { t.qkv_bias = t.projection_bias = t.joint_qkv = true; }),
       .hugging_face = usual({{"qkv_bias", "bias"}, {"projection_bias", "bias"}}),
       .sizes = {4096, 32, 0, 32, 2048, 103168, 11008}},
      {.name = "minicpm",
       .traits = with(kLlamaTraits, [](Traits& t) { t.tied_embedding = true; }),
       .hugging_face = with_attention_bias(),
       .sizes = kLlama7b},
      {.name = "cohere",
       .traits = kCohereTraits,
       .hugging_face = with_attention_bias(),
       .sizes = {8192, 64, 0, 40, 8192, 256000, 22528},
       .flags = {query_norm<QueryNorm::kWhole>("use_qk_norm")},
       .unmodelled = "norms are written out in Python: some 5 % more memory"},
      {.name = "cohere2",
       .traits = kCohereTraits,
       .hugging_face = with_attention_bias({{"full_attention_every", "sliding_window_pattern"}}),
       .sizes = {8192, 64, 0, 40, 8192, 256000, 22528},
       .windows = {.possible = true, .tokens = 4096, .full_every = 4}},
      {.name = "phi",
       .traits =
           with(kGptNeoXTraits,
                [](Traits& t) {
                  t.joint_qkv = false;
                  t.activation = Activation::kGeluNew;
                  t.rotary_share = 0.5;
                  t.grouped = t.shared_norm = t.head_bias = true;
                }),
       .hugging_face = usual({{"rotary_share", "partial_rotary_factor"}, {"dropout", "resid_pdrop"}}),
       .sizes = {2048, 32, 0, 24, 2048, 51200, 8192},
       .flags = {query_norm<QueryNorm::kShared, 2>("qk_layernorm")}},
      {.name = "gptj", .traits = kGptJTraits, .hugging_face = gpt2_names(), .sizes = {4096, 16, 0, 28, 2048, 50400, 0}},
      {.name = "codegen",
       .traits = with(kGptJTraits, [](Traits& t) { t.joint_qkv = true; }),
       .hugging_face = gpt2_names(),
       .sizes = {4096, 16, 0, 28, 2048, 50400, 0}},
      {.name = "gpt_neo",
       .traits =
           with(kGpt2Traits,
                [](Traits& t) { t.qkv_bias = t.dropout = t.joint_qkv = false, t.activation = Activation::kGeluNew; }),
       .hugging_face = usual({{"heads", "num_heads"},
                              {"layers", "num_layers"},
                              {"activation", "activation_function"},
                              {"window", "window_size"},
                              {"dropout", "resid_dropout"}}),
       .sizes = {2048, 16, 0, 24, 2048, 50257, 0},
       .windows = {.possible = true, .tokens = 256}},
      {.name = "gpt_bigcode",
       .traits = with(kGpt2Traits, [](Traits& t) { t.grouped = true; }),
       .hugging_face = gpt2_names(),
       .sizes = {768, 12, 0, 12, 1024, 50257, 0},
       .flags = {kMultiQuery}},
      {.name = "falcon",
       .traits = with(kGptNeoXTraits,
                      [](Traits& t) {
                        t.qkv_bias = t.projection_bias = t.mlp_bias = false;
                        t.rotary_share = 1;
                        t.grouped = t.shared_norm = t.tied_embedding = true;
                      }),
       .hugging_face = with_bias("bias", {{"kv_heads", "num_kv_heads"},
                                          {"intermediate", "ffn_hidden_size"},
                                          {"activation", "activation"},
                                          {"dropout", "hidden_dropout"}}),
       .sizes = {4544, 71, 0, 32, 2048, 65024, 0},
       .flags = falcon_flags(),
       .unmodelled = "attention keeps its scores even with sdpa: up to a third more memory and time"},
      {.name = "bloom",
       .traits = with(kGpt2Traits,
                      [](Traits& t) {
                        t.learned_positions = t.dropout = false;
                        t.rotary_share = 0;
                        t.embedding_norm = true;
                      }),
       .hugging_face = usual({{"heads", "n_head"},
                              {"layers", "n_layer"},
                              {"sequence", "seq_length"},
                              {"intermediate", "n_inner"},
                              {"dropout", "hidden_dropout"}}),
       // BLOOM's sequences had 2048 tokens (arXiv 2211.05100, table 3).
       .sizes = {64, 8, 0, 2, 2048, 250880, 0}},
      {.name = "mpt",
       .traits =
           with(kGpt2Traits,
                [](Traits& t) {
                  t.learned_positions = t.qkv_bias = t.projection_bias = t.mlp_bias = t.dropout = false;
                  t.rotary_share = 0;
                  t.norm_vectors = 1;
                }),
       .hugging_face = usual({{"hidden", "d_model"},
                              {"heads", "n_heads"},
                              {"layers", "n_layers"},
                              {"sequence", "max_seq_len"},
                              {"dropout", "resid_pdrop"}}),
       .sizes = {2048, 16, 0, 24, 2048, 50368, 0}},
      {.name = "persimmon",
       .traits = with(kGptNeoXTraits,
                      [](Traits& t) {
                        t.parallel = false;
                        t.rotary_share = 0.5;
                      }),
       .hugging_face = usual({{"rotary_share", "partial_rotary_factor"}, {"dropout", "hidden_dropout"}}),
       .sizes = {4096, 64, 0, 36, 16384, 262144, 16384},
       .flags = {query_norm<QueryNorm::kShared, 2>("qk_layernorm", true)},
       .unmodelled = "the squared ReLU keeps an fp32 copy with autocast: some 6 % more memory"},
      {.name = "nemotron",
       .traits = with(kLlamaTraits,
                      [](Traits& t) {
                        t.rms_norm = t.gated = false;
                        t.norm_vectors = 2;
                        t.rotary_share = 0.5;
                        t.activation = Activation::kGelu;  // relu2 moves the same bytes
                      }),
       .hugging_face = with_attention_bias({{"rotary_share", "partial_rotary_factor"}}),
       .sizes = {6144, 48, 0, 32, 4096, 256000, 24576}},
      {.name = "glm",
       .traits = kGlmTraits,
       .hugging_face = usual({{"qkv_bias", "attention_bias"}, {"rotary_share", "partial_rotary_factor"}}),
       .sizes = {4096, 32, 2, 40, 131072, 151552, 13696, 128}},
      {.name = "glm4",
       .traits = with(kGlmTraits, [](Traits& t) { t.branch_norm = true; }),
       .hugging_face = usual({{"qkv_bias", "attention_bias"}, {"rotary_share", "partial_rotary_factor"}}),
       .sizes = {4096, 32, 2, 40, 131072, 151552, 13696, 128}},
      {.name = "xglm",  // sinusoidal positions
       .traits = with(kGpt2Traits,
                      [](Traits& t) {
                        t.learned_positions = t.joint_qkv = false;
                        t.rotary_share = 0;
                      }),
       .hugging_face = usual({{"hidden", "d_model"},
                              {"heads", "attention_heads"},
                              {"layers", "num_layers"},
                              {"intermediate", "ffn_dim"},
                              {"activation", "activation_function"},
                              {"dropout", "dropout"}}),
       .sizes = {1024, 16, 0, 24, 2048, 256008, 4096},
       .unmodelled = "attention keeps its scores twice more: up to a sixth more memory and time"},
      {.name = "openai-gpt",
       .traits = with(kGpt2Traits,
                      [](Traits& t) {
                        t.norm_before = false, t.norm_behind = true;
                        t.activation = Activation::kGeluNew;  // its "gelu"
                      }),
       .hugging_face = gpt2_names("afn"),
       .sizes = {768, 12, 0, 12, 512, 40478, 0}},
      {.name = "bert", .traits = kBertTraits, .hugging_face = bert_names(), .sizes = kBertBase},
      {.name = "roberta",
       .traits = kRobertaTraits,
       .hugging_face = bert_names(),
       .sizes = {768, 12, 0, 12, 512, 50265, 3072}},
      {.name = "xlm-roberta", .traits = kRobertaTraits, .hugging_face = bert_names(), .sizes = kBertBase},
      {.name = "camembert", .traits = kRobertaTraits, .hugging_face = bert_names(), .sizes = kBertBase},
      {.name = "distilbert",
       .traits = with(kBertTraits, [](Traits& t) { t.token_types = 0; }),
       .hugging_face = usual({{"hidden", "dim"},
                              {"heads", "n_heads"},
                              {"layers", "n_layers"},
                              {"intermediate", "hidden_dim"},
                              {"activation", "activation"},
                              {"dropout", "dropout"},
                              {"attention_dropout", "attention_dropout"}}),
       .sizes = {768, 12, 0, 6, 512, 30522, 3072}}};
  return kRows;
}

}  // namespace slmsim
