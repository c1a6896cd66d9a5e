#include "sim/compute/family.h"

#include <algorithm>

namespace slmsim {
namespace {

// Values of model_type that have no row in the table, with the reason.
struct UnsupportedFamily {
  const char* why;
  std::vector<const char*> types;  // or their prefixes
};

const std::vector<UnsupportedFamily>& unsupported_families() {
  static const std::vector<UnsupportedFamily> kRows = {
      {"latent attention", {"deepseek_v", "minicpm3", "kimi", "longcat", "glm4_moe_lite"}},
      {"a mixture of experts",
       {"mixtral",        "qwen2_moe", "qwen3_moe", "qwen3_next",   "phimoe",      "olmoe",
        "deepseek",       "dbrx",      "jetmoe",    "granitemoe",   "gpt_oss",     "switch_transformers",
        "llama4",         "grok",      "nllb-moe",  "ernie4_5_moe", "glm4_moe",    "jamba",
        "hunyuan_v1_moe", "minimax",   "dots1",     "flex_olmo",    "bailing_moe", "arctic"}},
      {"a state-space or recurrent model",
       {"mamba", "falcon_mamba", "rwkv", "zamba", "recurrent_gemma", "xlstm", "bamba", "falcon_h1", "nemotron_h",
        "retnet", "lfm2", "granitemoehybrid"}},
      {"an encoder with other attention or other embeddings",
       {"albert",   "deberta",    "electra",        "modernbert",           "mpnet",
        "vit",      "nomic_bert", "clip",           "longformer",           "esm",
        "big_bird", "roformer",   "funnel",         "mobilebert",           "squeezebert",
        "convbert", "xlnet",      "xlm-roberta-xl", "roberta-prelayernorm", "layoutlm",
        "dinov2",   "wav2vec2",   "hubert"}},
      {"an encoder with a decoder",
       {"t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "whisper", "led", "m2m_100", "prophetnet",
        "encoder-decoder", "blenderbot", "t5gemma", "bigbird_pegasus"}},
      {"a model of images or sound and text",
       {"llava",           "qwen2_vl",     "qwen2_5_vl", "qwen3_vl", "paligemma",     "mllama", "idefics", "gemma3n",
        "phi4_multimodal", "smolvlm",      "internvl",   "mistral3", "pixtral",       "kosmos", "blip",    "fuyu",
        "qwen2_audio",     "qwen2_5_omni", "florence",   "glm4v",    "cohere2_vision"}}};
  return kRows;
}

}  // namespace

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
    if (std::ranges::any_of(types, [&](const char* type) { return model_type.starts_with(type); })) return why;
  }
  return model_type.ends_with("_moe") ? "a mixture of experts" : "";
}

}  // namespace slmsim
