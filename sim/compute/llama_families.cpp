#include "sim/compute/family_row.h"

namespace slmsim {
namespace {

constexpr Traits kLlamaTraits{
    .rms_norm = true, .norm_vectors = 1, .grouped = true, .gated = true, .tied_embedding = false};
constexpr Traits kGemmaTraits =
    with(kLlamaTraits, [](Traits& t) { t.activation = Activation::kGelu, t.tied_embedding = true; });
constexpr Traits kOlmo2Traits = with(
    kLlamaTraits, [](Traits& t) { t.norm_before = false, t.branch_norm = true, t.query_norm = QueryNorm::kWhole; });
constexpr Traits kCohereTraits =
    with(kLlamaTraits, [](Traits& t) { t.rms_norm = false, t.parallel = t.shared_norm = t.tied_embedding = true; });
constexpr Traits kGlmTraits =
    with(kLlamaTraits, [](Traits& t) { t.qkv_bias = t.joint_gate = t.norm_casts_first = true, t.rotary_share = 0.5; });

constexpr UsualSizes kLlama7b = {4096, 32, 0, 32, 2048, 32000, 11008};

}  // namespace

std::vector<FamilyRow> llama_families() {  // NOLINT(readability-function-size): a table
  return {
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
      {.name = "apertus",
       .traits = with(kLlamaTraits,
                      [](Traits& t) {
                        t.gated = false;
                        t.activation = Activation::kGelu;
                        t.query_norm = QueryNorm::kShared, t.norm_casts_first = true;
                      }),
       .hugging_face = with_attention_bias(),
       .sizes = {4096, 32, 0, 32, 65536, 131072, 14336},
       .unmodelled = "xIELU counts as one kernel, as xielu's own; written out in Python it keeps some six tensors"},
      {.name = "arcee",
       .traits = with(kLlamaTraits, [](Traits& t) { t.gated = false, t.activation = Activation::kGelu; }),
       .hugging_face = with_attention_bias(),
       .sizes = {2560, 32, 0, 32, 4096, 32000, 18432},
       .unmodelled = "the squared ReLU keeps an fp32 copy with autocast: some 6 % more memory"},
      {.name = "baichuan",
       .traits = with(kLlamaTraits, [](Traits& t) { t.joint_qkv = true; }),
       .hugging_face = usual(),
       .sizes = {4096, 32, 0, 32, 4096, 64000, 11008},
       .unmodelled = "Baichuan 2 normalises the head's weights in each step"},
      {.name = "ernie4_5",
       .traits = with(kLlamaTraits, [](Traits& t) { t.tied_embedding = true; }),
       .hugging_face = with_bias("use_bias"),
       .sizes = {1024, 16, 2, 18, 131072, 103424, 3072, 128}},
      {.name = "exaone",
       .traits = with(kLlamaTraits, [](Traits& t) { t.tied_embedding = true; }),
       .hugging_face = usual({{"layers", "num_layers"}, {"activation", "activation_function"}}),
       .sizes = {2048, 32, 0, 32, 2048, 102400, 0}},
      {.name = "exaone4",
       .traits = with(kOlmo2Traits, [](Traits& t) { t.query_norm = QueryNorm::kShared, t.norm_casts_first = true; }),
       .hugging_face = usual(),
       .sizes = {4096, 32, 32, 32, 2048, 102400, 16384},
       .windows = {.possible = true, .tokens = 4096, .full_every = 4}},
      {.name = "helium",
       .traits = kLlamaTraits,
       .hugging_face = usual({{"qkv_bias", "attention_bias"}}),
       .sizes = {2560, 20, 20, 24, 4096, 48000, 7040, 128}},
      {.name = "hunyuan_v1_dense",
       .traits = with(kLlamaTraits, [](Traits& t) { t.query_norm = QueryNorm::kShared, t.norm_casts_first = true; }),
       .hugging_face = with_attention_bias(),
       .sizes = {4096, 32, 0, 32, 2048, 290943, 11008}},
      {.name = "internlm3",
       .traits = kLlamaTraits,
       .hugging_face = usual({{"projection_bias", "bias"}, {"mlp_bias", "bias"}}),
       .sizes = {4096, 32, 0, 32, 32768, 128512, 11008}},
      {.name = "seed_oss",
       .traits = with(kLlamaTraits, [](Traits& t) { t.qkv_bias = t.dropout = true; }),
       .hugging_face = with_attention_bias({{"projection_bias", "attention_out_bias"},
                                            {"dropout", "residual_dropout"},
                                            {"attention_dropout", "attention_dropout"}}),
       .sizes = {4096, 80, 8, 64, 524288, 155136, 27648, 128}}};
}

}  // namespace slmsim
