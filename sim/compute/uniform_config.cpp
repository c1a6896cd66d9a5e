#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/compute/transformer.h"

namespace slmsim {
namespace {

using Kind = Node::Kind;

bool is_true(const Node& config, const char* key) {
  const Node* found = config.find(key);
  return found && found->scalar == "true";
}

const FamilyRow* row_named(const std::string& name) {
  const auto& rows = family_table();
  const auto row = std::ranges::find_if(rows, [&](const FamilyRow& r) { return r.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::string text_of(const Node& config, const char* key) {
  const Node* found = config.find(key);
  return found && found->kind == Kind::kScalar ? found->scalar : "";
}

// Models of images and text whose text model is one of the families.
constexpr std::pair<const char*, const char*> kTextModels[] = {{"gemma3", "gemma3_text"}};

Node text_model(const Node& config) {
  const std::string type = text_of(config, "model_type");
  const Node* text = config.find("text_config");
  for (const auto& [whole, part] : kTextModels) {
    if (type != whole || !text || text->kind != Kind::kMap) continue;
    Node out = config;
    std::erase_if(out.entries, [](const Entry& entry) { return entry.key == "text_config"; });
    for (const Entry& entry : text->entries) {
      if (!out.find(entry.key)) out.entries.push_back(entry);
    }
    out.find("model_type")->scalar = part;
    return out;
  }
  return config;
}

// Other names of sizes in config.json: those of the attribute_map of each class, and of older versions.
constexpr std::pair<const char*, const char*> kOtherNames[] = {{"hidden", "hidden_size"},
                                                               {"hidden", "n_embd"},
                                                               {"hidden", "n_embed"},
                                                               {"hidden", "d_model"},
                                                               {"heads", "num_attention_heads"},
                                                               {"heads", "n_head"},
                                                               {"heads", "num_heads"},
                                                               {"layers", "num_hidden_layers"},
                                                               {"layers", "n_layer"},
                                                               {"layers", "num_layers"},
                                                               {"kv_heads", "n_head_kv"},
                                                               {"sequence", "max_position_embeddings"},
                                                               {"sequence", "n_positions"},
                                                               {"tied_embedding", "tie_word_embeddings"},
                                                               {"intermediate", "intermediate_size"}};

void rename_sizes(Node& config, const FamilyRow& row) {
  for (const auto& [own, other] : kOtherNames) {
    const auto theirs = row.hugging_face.find(own);
    if (theirs == row.hugging_face.end() || config.find(own) || config.find(theirs->second)) continue;
    for (Entry& entry : config.entries) {
      if (entry.key == other) entry.key = theirs->second;
    }
  }
}

// A copy of the value in an inner map, unless the config has that key.
void lift(Node& config, const char* map, const char* key, const std::string& as) {
  const Node* inner = config.find(map);
  const Node* value = inner && inner->kind == Kind::kMap ? inner->find(key) : nullptr;
  if (!value || config.find(as)) return;
  Entry entry{as, value->place, *value};
  config.entries.push_back(std::move(entry));
}

}  // namespace

Node uniform_config(const Node& config) {
  Node out = text_model(config);
  const FamilyRow* row = row_named(text_of(out, "model_type"));
  if (!row) return out;
  rename_sizes(out, *row);
  const auto share = row->hugging_face.find("rotary_share");
  const std::string rotary = share == row->hugging_face.end() ? "rotary_share" : share->second;
  lift(out, "rope_parameters", "partial_rotary_factor", rotary);
  if (row->name == std::string("mpt")) lift(out, "attn_config", "attn_pdrop", "attention_dropout");
  return out;
}

void refuse_unmodelled(const Node& config, Fields& fields) {
  const Node* type = config.find("model_type");
  if (!type || type->kind != Kind::kScalar) return;
  const auto refuse = [&](const std::string& what) {
    fields.error("model_type", fmt::format("model_type: \"{}\" {}", type->scalar.substr(0, 40), what));
  };
  const auto& names = family_names();
  if (std::ranges::find(names, type->scalar) == names.end()) {
    std::string lower = type->scalar;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (const std::string why = why_not_modelled(lower); !why.empty())
      refuse(fmt::format("is {}, which is not modelled", why));
    else if (std::ranges::find(names, lower) != names.end())
      refuse(fmt::format("is unknown; did you mean \"{}\"?", lower));
    else
      refuse("is not modelled; describe its layers in a model file with the nearest family");
    return;
  }
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
    const Node* experts = config.find(key);
    if (experts && parse_number(experts->scalar).value_or(0) > 1)
      return refuse(fmt::format("is a mixture of experts by its {}, which is not modelled", key));
  }
  const auto& hugging_face = row_named(type->scalar)->hugging_face;
  for (const auto& [own, other] : kOtherNames) {
    const auto theirs = hugging_face.find(own);
    const Node* one = theirs == hugging_face.end() ? nullptr : config.find(theirs->second);
    const Node* second = config.find(other);
    if (one && second && one->kind == Kind::kScalar && second->kind == Kind::kScalar && one->scalar != second->scalar)
      fields.error_at(second->place, fmt::format("{} contradicts {}; state one of them", other, theirs->second));
  }
  if (is_true(config, "is_encoder_decoder"))
    refuse("is an encoder with a decoder by its is_encoder_decoder, which is not modelled");
  if (is_true(config, "add_cross_attention"))
    refuse("attends to an encoder by its add_cross_attention, which is not modelled");
}

std::optional<Precision> stated_precision(const Node& config) {
  static const std::map<std::string, Precision> kWords = {
      {"float32", Precision::kFp32}, {"float16", Precision::kFp16}, {"bfloat16", Precision::kBf16}};
  const Node* text = config.find("text_config");
  for (const Node* map : {&config, text}) {
    for (const char* key : {"dtype", "torch_dtype"}) {
      std::string word = map ? text_of(*map, key) : "";
      if (word.starts_with("torch.")) word = word.substr(6);
      if (const auto known = kWords.find(word); known != kWords.end()) return known->second;
      if (!word.empty() && word != "auto")
        throw InputError(map->find(key)->place,
                         fmt::format("{}: \"{}\" is not modelled; float32, float16 and bfloat16 are", key,
                                     printable(word).substr(0, 64)));
    }
  }
  return std::nullopt;
}

}  // namespace slmsim
