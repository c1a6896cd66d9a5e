// Differences between families of decoder-only transformers, and the keys of each in Hugging Face's config.json: one
// row of a table per family.
//
// Sources: the modelling code of Hugging Face's transformers (modeling_gpt2.py, ...), for which the families' authors
// publish their weights, and the papers named in the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

enum class Family { kGpt2, kLlama, kMistral, kQwen2, kQwen3, kPhi3, kGemma, kGemma2, kOpt, kGptNeoX };

// The function that the MLP applies between its products.
// Hugging Face writes gelu_new and quick_gelu out in Python.
enum class Activation { kGelu, kRelu, kSilu, kGeluNew, kQuickGelu };
inline bool is_gelu(Activation activation) {
  return activation != Activation::kRelu && activation != Activation::kSilu;
}

struct Traits {
  bool rms_norm = false;             // with a scale alone; else layer norm, with a shift too
  bool learned_positions = false;    // a table of them, added to the embedding; else rotary ones
  std::int64_t position_offset = 0;  // rows of that table before the first position
  double rotary_share = 1;           // share of queries' and keys' elements that rotary positions turn
  bool qkv_bias = false, projection_bias = false, mlp_bias = false;
  bool gated = false;  // the MLP multiplies two products of its input (Shazeer, arXiv 2002.05202)
  Activation activation = Activation::kSilu;
  bool parallel = false;     // attention and MLP read the same stream (Wang and Komatsuzaki, GPT-J)
  bool query_norm = false;   // RMS norm of each head's queries and keys, with one scale for all heads
  bool branch_norm = false;  // a norm after attention and MLP too
  bool score_cap = false;    // tanh bounds the scores
  bool logit_cap = false;    // tanh bounds the logits
  bool tied_embedding = true, dropout = false;  // unless the model's file says otherwise

  bool operator==(const Traits&) const = default;
};

struct FamilyRow {
  const char* name = "";  // in this project's files, and as model_type in a config.json
  Traits traits;
  SecondNames hugging_face;  // this project's key to Hugging Face's
  // Defaults of config.json.
  std::int64_t head_dim = 0;        // 0: hidden / heads
  bool has_window = false;          // attention may look back over a window of tokens only
  bool window_if_asked = false;     // only with use_sliding_window
  std::int64_t sliding_window = 0;  // 0: none
};

const std::vector<FamilyRow>& family_table();
inline const FamilyRow& row_of(Family family) { return family_table()[static_cast<std::size_t>(family)]; }
inline const Traits& traits_of(Family family) { return row_of(family).traits; }

// Family names as the files write them.
const std::vector<std::string>& family_names();
// The reason why a model_type of Hugging Face cannot be modelled ("is a mixture of experts"); empty where it is
// unknown.
std::string why_not_modelled(const std::string& model_type);

}  // namespace slmsim
