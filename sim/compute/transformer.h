// A decoder-only transformer, read from one of this project's model files or from a Hugging Face config.json
// (sim/compute/family.h lists the families).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/yaml.h"
#include "sim/compute/family.h"

namespace slmsim {

// Low-rank adapters (LoRA: Hu et al., arXiv 2106.09685, section 4.1). The model's own weights are frozen; a product W x
// of n outputs and k inputs gets B A x added, with A of rank x k and B of n x rank. Only A and B are trained.

// Products with an adapter each; kUp of gated MLPs stands for both products before the gate.
enum class LoraTarget { kQuery, kKey, kValue, kOutput, kUp, kDown };
const std::vector<std::string>& lora_target_names();  // "query", "key", "value", "output", "up", "down"

struct Lora {
  int rank = 0;
  std::vector<LoraTarget> targets;

  bool operator==(const Lora&) const = default;
};

struct Transformer {
  std::string name;
  Family family = Family::kGpt2;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // fewer than heads with grouped-query attention
  std::int64_t layers = 0;
  std::int64_t sequence = 0;  // tokens of one training sequence (a "block")
  std::int64_t vocabulary = 0;
  std::int64_t intermediate = 0;               // width of the MLP
  bool tied_embedding = true;                  // the head uses the token embedding's weights
  bool dropout = false;                        // of both branches and the embedding
  std::optional<bool> attention_dropout = {};  // of attention's probabilities; none: as dropout
  std::int64_t head_dim = 0;                   // 0: hidden / heads
  std::int64_t positions = 0;                  // rows of a learned table; 0: the length of the sequence
  Traits traits = traits_of(family);
  std::optional<Lora> lora = {};  // set by a scenario's training; none: all parameters are trained

  bool drops_attention() const { return attention_dropout.value_or(dropout); }
  std::int64_t head_width() const { return head_dim > 0 ? head_dim : hidden / heads; }
  // Over all heads.
  std::int64_t query_width() const { return heads * head_width(); }
  std::int64_t kv_width() const { return kv_heads * head_width(); }
  std::int64_t position_rows() const { return (positions > 0 ? positions : sequence) + traits.position_offset; }

  bool operator==(const Transformer&) const = default;
};

// Reads either format; a file with "model_type" is Hugging Face's, and its other keys are ignored. Hugging Face files
// do not name the model, so `fallback_name` does. Errors go to `reading`; a family that cannot be modelled gives one
// error only.
Transformer read_transformer(const Node& node, const std::string& path, const std::string& fallback_name,
                             Reading& reading);

// Default name of a model: the file's name, or the folder's for a config.json.
std::string model_name_of(const std::filesystem::path& file);

// Checks of a Hugging Face config.json for features that cannot be modelled.
//
// Enters: the config as read so far. Leaves: one error per unsupported feature.

// Refuses mixtures of experts, encoders and the like, by model_type or by keys that indicate them.
void refuse_unmodelled(const Node& config, Fields& fields);

// Refuses windows shorter than the training sequence, and layers of another structure.
void read_hugging_face(const Node& config, const FamilyRow& row, const Transformer& model, Fields& fields);

}  // namespace slmsim
