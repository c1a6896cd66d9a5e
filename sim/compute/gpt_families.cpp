#include "sim/compute/family_row.h"

namespace slmsim {
namespace {

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

constexpr Traits kGpt2Traits{.learned_positions = true,
                             .qkv_bias = true,
                             .projection_bias = true,
                             .mlp_bias = true,
                             .joint_qkv = true,
                             .activation = Activation::kGelu,
                             .dropout = true};
constexpr Traits kGptNeoXTraits = with(kGpt2Traits, [](Traits& t) {
  t.learned_positions = t.tied_embedding = t.dropout = false;
  t.rotary_share = 0.25;
  t.parallel = true;
});
constexpr Traits kGptJTraits = with(kGptNeoXTraits, [](Traits& t) {
  t.qkv_bias = t.projection_bias = t.joint_qkv = false;
  t.activation = Activation::kGeluNew;
  t.head_bias = t.shared_norm = true;
});
constexpr Traits kBertTraits = with(kGpt2Traits, [](Traits& t) {
  t.token_types = 2;
  t.norm_before = t.causal = t.joint_qkv = false;
  t.norm_behind = t.embedding_norm = t.head_bias = true;
});
constexpr Traits kRobertaTraits = with(kBertTraits, [](Traits& t) { t.position_offset = 2; });

constexpr UsualSizes kBertBase = {768, 12, 0, 12, 512, 30522, 3072};

SecondNames bert_names() {
  return usual({{"dropout", "hidden_dropout_prob"}, {"attention_dropout", "attention_probs_dropout_prob"}});
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

std::vector<FamilyRow> gpt_families() {  // NOLINT(readability-function-size): a table
  return {
      {.name = "gpt2", .traits = kGpt2Traits, .hugging_face = gpt2_names(), .sizes = {768, 12, 0, 12, 1024, 50257, 0}},
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
      {.name = "starcoder2",
       .traits = with(kGpt2Traits,
                      [](Traits& t) {
                        t.learned_positions = t.dropout = t.joint_qkv = false;
                        t.grouped = true;
                      }),
       .hugging_face = with_bias("use_bias", {{"dropout", "residual_dropout"}}),
       .sizes = {3072, 24, 2, 30, 4096, 49152, 12288},
       .windows = {.possible = true}},
      {.name = "phi",
       .traits = with(kGptNeoXTraits,
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
       .traits = with(kGpt2Traits,
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
}

}  // namespace slmsim
