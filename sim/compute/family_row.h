// Shared by the rows of the table of families: second names, and traits made from others.
#pragma once

#include "sim/compute/transformer.h"

namespace slmsim {

// Rows of the table: decoders after Llama, then those after GPT-2, and encoders.
std::vector<FamilyRow> llama_families();
std::vector<FamilyRow> gpt_families();

// Second names common to most configs.
inline SecondNames usual(const SecondNames& others = {}) {
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

template <class Change>
constexpr Traits with(Traits traits, Change change) {
  change(traits);
  return traits;
}

// Second names of configs that state whether attention's products have biases.
inline SecondNames with_attention_bias(SecondNames others = {}) {
  others.insert({{"qkv_bias", "attention_bias"}, {"projection_bias", "attention_bias"}});
  return usual(others);
}

// Second names of configs in which one key states the biases of all products.
inline SecondNames with_bias(const char* key, SecondNames others = {}) {
  others.insert({{"qkv_bias", key}, {"projection_bias", key}, {"mlp_bias", key}});
  return usual(others);
}

// A key that states whether queries and keys have norms.
template <QueryNorm kind, int vectors = 1>
ConfigFlag query_norm(const char* key, bool fallback = false) {
  return {key, "Whether queries and keys have norms.", fallback, [](Transformer& model, bool value) {
            model.traits.query_norm = value ? kind : QueryNorm::kNone;
            model.traits.query_norm_vectors = vectors;
          }};
}

}  // namespace slmsim
