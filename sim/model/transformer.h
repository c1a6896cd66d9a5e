// A decoder-only transformer as its configuration gives it, read from one of this project's model files or
// from a Hugging Face config.json (families GPT-2 and Llama).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/yaml.h"

namespace slmsim {

enum class Family { kGpt2, kLlama };

struct Transformer {
  std::string name;
  Family family = Family::kGpt2;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // fewer than heads with grouped-query attention
  std::int64_t layers = 0;
  std::int64_t sequence = 0;  // tokens of one training sequence (a "block")
  std::int64_t vocabulary = 0;
  std::int64_t intermediate = 0;  // width of the MLP
  bool tied_embedding = true;     // the head uses the token embedding's weights
  bool dropout = false;           // of attention's probabilities, both residual branches and the embedding

  bool operator==(const Transformer&) const = default;
};

// Family names as the files write them.
const std::vector<std::string>& family_names();

// Reads either format; a file with "model_type" is Hugging Face's, whose other keys are ignored. Hugging Face
// files do not name the model, so `fallback_name` does. Errors go to `reading`.
Transformer read_transformer(const Node& node, const std::string& path, const std::string& fallback_name,
                             Reading& reading);

}  // namespace slmsim
