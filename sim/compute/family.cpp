#include "sim/compute/family.h"

#include <algorithm>

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
                       {"tied_embedding", "tie_word_embeddings"}};
  for (const auto& [own, theirs] : others) names[own] = theirs;
  return names;
}

constexpr Traits kGpt2Traits{.learned_positions = true,
                             .qkv_bias = true,
                             .projection_bias = true,
                             .mlp_bias = true,
                             .activation = Activation::kGelu,
                             .dropout = true};
constexpr Traits kLlamaTraits{.rms_norm = true, .gated = true, .tied_embedding = false};

template <class Change>
constexpr Traits with(Traits traits, Change change) {
  change(traits);
  return traits;
}

constexpr Traits kGemmaTraits = with(kLlamaTraits, [](Traits& t) {
  t.activation = Activation::kGelu;
  t.tied_embedding = true;
});

// Second names of configs that state whether attention's products have biases.
SecondNames with_attention_bias(SecondNames others = {}) {
  others.insert({{"qkv_bias", "attention_bias"}, {"projection_bias", "attention_bias"}});
  return usual(others);
}

// Values of model_type that have no row in the table, with the reason.
struct UnsupportedFamily {
  const char* why;
  std::vector<const char*> types;  // or their prefixes
};

const std::vector<UnsupportedFamily>& unsupported_families() {
  static const std::vector<UnsupportedFamily> kRows = {
      {"a mixture of experts",
       {"mixtral", "qwen2_moe", "qwen3_moe", "phimoe", "olmoe", "deepseek_v", "dbrx", "jetmoe", "granitemoe", "gpt_oss",
        "switch_transformers", "llama4", "grok", "nllb-moe", "ernie4_5_moe", "glm4_moe", "jamba"}},
      {"a state-space or recurrent model",
       {"mamba", "falcon_mamba", "rwkv", "zamba", "recurrent_gemma", "xlstm", "bamba", "falcon_h1"}},
      {"an encoder, not a decoder",
       {"bert", "roberta", "distilbert", "albert", "deberta", "electra", "modernbert", "xlm-roberta", "mpnet", "vit",
        "camembert", "nomic_bert", "clip", "longformer", "esm"}},
      {"an encoder with a decoder",
       {"t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "whisper", "led", "m2m_100", "prophetnet",
        "encoder-decoder"}},
      {"a model of images and text",
       {"llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "paligemma", "mllama", "idefics", "gemma3n",
        "phi4_multimodal"}}};
  return kRows;
}

}  // namespace

const std::vector<FamilyRow>& family_table() {
  // GPT-2: Radford et al. 2019. Llama: arXiv 2302.13971, 2307.09288, 2407.21783. Mistral: arXiv 2310.06825. Qwen2:
  // arXiv 2407.10671. Qwen3: arXiv 2505.09388. Phi-3: arXiv 2404.14219. Gemma: arXiv 2403.08295. Gemma 2: arXiv
  // 2408.00118. OPT: arXiv 2205.01068. GPT-NeoX: arXiv 2204.06745.
  static const std::vector<FamilyRow> kRows = {
      {.name = "gpt2",
       .traits = kGpt2Traits,
       .hugging_face = {{"hidden", "n_embd"},
                        {"heads", "n_head"},
                        {"layers", "n_layer"},
                        {"sequence", "n_positions"},
                        {"positions", "n_positions"},
                        {"vocabulary", "vocab_size"},
                        {"intermediate", "n_inner"},
                        {"activation", "activation_function"},
                        {"tied_embedding", "tie_word_embeddings"},
                        {"dropout", "resid_pdrop"},
                        {"attention_dropout", "attn_pdrop"}}},
      {.name = "llama", .traits = kLlamaTraits, .hugging_face = with_attention_bias()},
      {.name = "mistral", .traits = kLlamaTraits, .hugging_face = usual(), .has_window = true, .sliding_window = 4096},
      {.name = "qwen2",
       .traits = with(kLlamaTraits, [](Traits& t) { t.qkv_bias = true; }),
       .hugging_face = usual(),
       .has_window = true,
       .window_if_asked = true,
       .sliding_window = 4096},
      {.name = "qwen3",
       .traits = with(kLlamaTraits, [](Traits& t) { t.query_norm = true; }),
       .hugging_face = with_attention_bias(),
       .head_dim = 128,
       .has_window = true,
       .window_if_asked = true,
       .sliding_window = 4096},
      {.name = "phi3",
       .traits = kLlamaTraits,
       .hugging_face = usual({{"rotary_share", "partial_rotary_factor"}, {"dropout", "resid_pdrop"}}),
       .has_window = true},
      {.name = "gemma",
       .traits = kGemmaTraits,
       .hugging_face = with_attention_bias({{"activation", "hidden_activation"}}),
       .head_dim = 256},
      {.name = "gemma2",
       .traits = with(kGemmaTraits, [](Traits& t) { t.branch_norm = t.score_cap = t.logit_cap = true; }),
       .hugging_face = with_attention_bias({{"activation", "hidden_activation"}}),
       .head_dim = 256,
       .has_window = true,
       .sliding_window = 4096},
      {.name = "opt",
       .traits = with(kGpt2Traits, [](Traits& t) { t.position_offset = 2, t.activation = Activation::kRelu; }),
       .hugging_face = usual({{"intermediate", "ffn_dim"},
                              {"activation", "activation_function"},
                              {"qkv_bias", "enable_bias"},
                              {"projection_bias", "enable_bias"},
                              {"mlp_bias", "enable_bias"},
                              {"dropout", "dropout"}})},
      {.name = "gpt_neox",
       .traits = with(kGpt2Traits,
                      [](Traits& t) {
                        t.learned_positions = t.tied_embedding = t.dropout = false;
                        t.rotary_share = 0.25;
                        t.parallel = true;
                      }),
       .hugging_face = with_attention_bias(
           {{"rotary_share", "rotary_pct"}, {"parallel", "use_parallel_residual"}, {"dropout", "hidden_dropout"}})}};
  return kRows;
}

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& row : family_table()) names.emplace_back(row.name);
    return names;
  }();
  return kNames;
}

std::string why_not_modelled(const std::string& model_type) {
  for (const auto& [why, types] : unsupported_families()) {
    if (std::any_of(types.begin(), types.end(), [&](const char* type) { return model_type.starts_with(type); }))
      return why;
  }
  return model_type.ends_with("_moe") ? unsupported_families().front().why : "";
}

}  // namespace slmsim
