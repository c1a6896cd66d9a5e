// Differences between families of transformers, and the keys of each in Hugging Face's config.json: one row of a table
// per family.
//
// Sources: the configuration and modelling code of Hugging Face's transformers (configuration_gpt2.py,
// modeling_gpt2.py, ...), for which the families' authors publish their weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

// In the order of the table's rows.
enum class Family {
  kGpt2,
  kLlama,
  kMistral,
  kQwen2,
  kQwen3,
  kPhi3,
  kGemma,
  kGemma2,
  kGemma3,
  kOpt,
  kGptNeoX,
  kOlmo,
  kOlmo2,
  kOlmo3,
  kSmolLm3,
  kGranite,
  kStableLm,
  kStarCoder2,
  kInternLm,
  kInternLm2,
  kMiniCpm,
  kCohere,
  kCohere2,
  kPhi,
  kGptJ,
  kCodeGen,
  kGptNeo,
  kGptBigCode,
  kFalcon,
  kBloom,
  kMpt,
  kPersimmon,
  kNemotron,
  kGlm,
  kGlm4,
  kXglm,
  kOpenAiGpt,
  kBert,
  kRoberta,
  kXlmRoberta,
  kCamembert,
  kDistilBert
};

// The function that the MLP applies between its products.
// Hugging Face writes gelu_new and quick_gelu out in Python.
enum class Activation { kGelu, kRelu, kSilu, kGeluNew, kQuickGelu };
inline bool is_gelu(Activation activation) {
  return activation != Activation::kRelu && activation != Activation::kSilu;
}

// Norms of queries and keys: one scale of a head's width for all heads, or one for every element.
enum class QueryNorm { kNone, kShared, kWhole };

struct Traits {
  bool rms_norm = false;             // else layer norm
  int norm_vectors = 2;              // parameters of a norm per element: a scale and a shift, or fewer
  bool learned_positions = false;    // a table of them, added to the embedding; else rotary ones
  std::int64_t position_offset = 0;  // rows of that table before the first position
  std::int64_t token_types = 0;      // rows of a third table that is added to the embedding
  double rotary_share = 1;  // share of queries' and keys' elements that rotary positions turn; 0: ALiBi or none
  bool grouped = false;     // heads may share keys and values
  bool qkv_bias = false, projection_bias = false, mlp_bias = false, head_bias = false;
  bool gated = false;  // the MLP multiplies two products of its input (Shazeer, arXiv 2002.05202)
  Activation activation = Activation::kSilu;
  bool parallel = false;     // attention and MLP read the same stream (Wang and Komatsuzaki, GPT-J),
  bool shared_norm = false;  // and the output of the same norm
  bool norm_before = true;   // a norm before attention and MLP,
  bool branch_norm = false;  // at the end of both branches,
  bool norm_behind = false;  // or of the stream after each, and none before the head (BERT)
  bool embedding_norm = false;
  QueryNorm query_norm = QueryNorm::kNone;
  int query_norm_vectors = 1;
  bool score_cap = false;  // tanh bounds the scores
  bool logit_cap = false;  // tanh bounds the logits
  bool causal = true;      // else an encoder: tokens attend to later ones too, and the head predicts masked tokens
  bool tied_embedding = true, dropout = false;  // unless the model's file says otherwise

  bool operator==(const Traits&) const = default;
};

struct Transformer;

// Sizes that the family's class in transformers assumes for missing keys; 0: hidden / heads for the width of heads, the
// number of heads for key-value heads, 4 times the hidden size for the MLP.
struct UsualSizes {
  std::int64_t hidden, heads, kv_heads, layers, positions, vocabulary, intermediate, head_dim = 0;
};

// Attention that looks back over a window of tokens in some layers.
struct Windows {
  bool possible = false;
  bool if_asked = false;        // only with use_sliding_window
  std::int64_t tokens = 0;      // 0: none unless stated
  std::int64_t full_every = 0;  // every n-th layer attends to all tokens; 0: no layer
};

// A key of config.json with yes or no that changes traits or sizes.
struct ConfigFlag {
  const char* key;
  const char* about;
  bool fallback;
  void (*apply)(Transformer& model, bool value);
};

struct FamilyRow {
  const char* name = "";  // in this project's files, and as model_type in a config.json
  Traits traits;
  SecondNames hugging_face;  // this project's key to Hugging Face's
  UsualSizes sizes;
  Windows windows = {};
  std::vector<ConfigFlag> flags = {};
};

const std::vector<FamilyRow>& family_table();
inline const FamilyRow& row_of(Family family) { return family_table()[static_cast<std::size_t>(family)]; }
inline const Traits& traits_of(Family family) { return row_of(family).traits; }

// Family names as the files write them.
const std::vector<std::string>& family_names();
// The reason why a model_type of Hugging Face cannot be modelled ("a mixture of experts"); empty where it is unknown.
std::string why_not_modelled(const std::string& model_type);

}  // namespace slmsim
