#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/compute/transformer.h"

namespace slmsim {
namespace {

using Kind = Node::Kind;

// Parts without an effect on the prediction, and what is predicted instead.
constexpr std::pair<const char*, const char*> kUnmodelled[] = {{"vision_config", "only its text model counts"},
                                                               {"audio_config", "only its text model counts"}};

// Whether a layer attends over a window, by the words of layer_types and attention_types.
std::optional<bool> is_windowed(const std::string& word) {
  if (word == "sliding_attention" || word == "local") return true;
  if (word == "full_attention" || word == "global") return false;
  return std::nullopt;
}

class ConfigReader {
 public:
  ConfigReader(const Node& config, const FamilyRow& row, Transformer& model, Fields& fields)
      : config_(config), row_(row), model_(model), fields_(fields) {}

  void read() {
    for (const auto& [key, text] : kUnmodelled) {
      if (is_map(key)) model_.unmodelled.push_back(fmt::format("{} is not modelled: {}", key, text));
    }
    if (row_.unmodelled) model_.unmodelled.emplace_back(row_.unmodelled);
    if (is_map("quantization_config"))
      error("quantization_config",
            "training of quantized weights is not modelled; without this key they have the training's precision");
    read_windows();
    read_head();
    switch (model_.family) {
      case Family::kGemma2:
      case Family::kGemma3:
        read_cap("attn_logit_softcapping", "Bound of the scores.", model_.traits.score_cap);
        read_cap("final_logit_softcapping", "Bound of the logits.", model_.traits.logit_cap);
        break;
      case Family::kSmolLm3:
        read_layers_without_positions();
        break;
      case Family::kCohere2:
        rotate_windowed_layers_only();
        break;
      case Family::kExaone4:
        if (!is_null("sliding_window")) rotate_windowed_layers_only();
        break;
      case Family::kGptJ:
      case Family::kCodeGen:
        read_rotary_width();
        break;
      case Family::kFalcon:
        read_parallel_norms();
        break;
      case Family::kMpt:
        read_expansion();
        break;
      case Family::kOpt:
        read_embedding_width();
        break;
      case Family::kBert:
      case Family::kRoberta:
      case Family::kXlmRoberta:
      case Family::kCamembert:
        model_.traits.token_types = fields_.integer({"type_vocab_size", "Rows of the table of token types."},
                                                    {0, 1 << 16}, row_.traits.token_types);
        break;
      default:
        break;
    }
  }

 private:
  bool is_map(const char* key) const { return is(key, Kind::kMap); }
  bool is_null(const char* key) const { return is(key, Kind::kNull); }
  bool is(const char* key, Kind kind) const {
    const Node* part = config_.find(key);
    return part && part->kind == kind;
  }

  // Refuses a list of layers that ends before them; a longer one is for more layers than are asked for.
  bool covers(const std::string& key, const std::vector<const Node*>& list) {
    const bool all = list.empty() || static_cast<std::int64_t>(list.size()) >= model_.layers;
    if (!all)
      error(key, fmt::format("{} has {} entries for {} layers; one each is expected", key, list.size(), model_.layers));
    return all;
  }

  void error(const std::string& key, const std::string& text) {
    if (!fields_.describing()) fields_.error(key, text);
  }

  // Gives layers without a word in a list the window of set_windows, and the others theirs.
  void set_windowed(const std::vector<bool>& windowed) {
    const auto with = std::ranges::find_if(model_.layer_kinds, [](const LayerKind& kind) { return kind.window > 0; });
    const std::int64_t window = with == model_.layer_kinds.end() ? 0 : with->window;
    if (window == 0 || windowed.empty()) return;
    model_.layer_kinds.assign(windowed.size(), {});
    for (std::size_t i = 0; i < windowed.size(); ++i) model_.layer_kinds[i].window = windowed[i] ? window : 0;
  }

  void read_windows() {
    if (!row_.windows.possible) return;
    const bool asked = !row_.windows.if_asked ||
                       fields_.flag({"use_sliding_window", "Whether attention looks back over a window."}, false);
    const bool upper = model_.family == Family::kQwen2 || model_.family == Family::kQwen3;
    const auto full =
        upper ? fields_.integer({"max_window_layers", "Number of first layers without a window."}, {0, 1 << 12}, 28)
              : 0;
    if (!asked) model_.layer_kinds.clear();
    if (upper && !model_.layer_kinds.empty()) {
      std::vector<bool> windowed(static_cast<std::size_t>(model_.layers));
      for (std::size_t i = 0; i < windowed.size(); ++i) windowed[i] = static_cast<std::int64_t>(i) >= full;
      set_windowed(windowed);
    }
    std::vector<bool> windowed;
    if (model_.family == Family::kGptNeo) {
      windowed = attention_types();
    } else if (const auto words = fields_.list({"layer_types", "Attention of each layer.", "as in transformers"},
                                               {ValueType::choice({"full_attention", "sliding_attention"})});
               !fields_.describing()) {
      for (const Node* word : words) {
        const auto own = word->kind == Kind::kScalar ? is_windowed(word->scalar) : std::nullopt;
        if (!own) {
          fields_.error_at(word->place,
                           fmt::format("layer_types: \"{}\" is not modelled; full_attention and sliding_attention are",
                                       word->scalar.substr(0, 40)));
          return;
        }
        windowed.push_back(*own);
      }
      if (!covers("layer_types", words)) return;
    }
    set_windowed(windowed);
  }

  // GPT-Neo: [[["global", "local"], 12]], 12 times these two layers.
  std::vector<bool> attention_types() {
    const Node* stated = fields_.child(
        {"attention_types", "Attention of the layers, and how often it is repeated.", "global and local in turn"},
        ValueType::any());
    if (fields_.describing() || !stated || stated->kind == Kind::kNull) return {false, true};
    std::vector<bool> out;
    const auto wrong = [&] {
      fields_.error_at(stated->place, "attention_types is not a list such as [[[\"global\", \"local\"], 12]]");
      return std::vector<bool>{};
    };
    for (const Node& part : stated->items) {
      if (part.items.size() != 2) return wrong();
      const auto times = parse_number(part.items[1].scalar);
      if (!times || !(*times >= 1 && *times <= 1 << 12) || part.items[0].items.size() > 1 << 12) return wrong();
      std::vector<bool> words;
      for (const Node& word : part.items[0].items) {
        const auto own = is_windowed(word.scalar);
        if (!own) return wrong();
        words.push_back(*own);
      }
      // Layers beyond the model's need no entry.
      for (int i = 0; i < static_cast<int>(*times) && static_cast<std::int64_t>(out.size()) < model_.layers; ++i)
        out.insert(out.end(), words.begin(), words.end());
    }
    return out.empty() ? wrong() : out;
  }

  void read_cap(const char* key, const char* about, bool& value) {
    const Node* stated = config_.find(key);
    const double cap = fields_.number({key, about, "as in transformers"}, {0, 1e9}, value ? 1.0 : 0.0);
    value = stated && stated->kind == Kind::kNull ? false : cap > 0;
  }

  // A head of classes by the class's name; its classes by the labels.
  void read_head() {
    const Node* classes = config_.find("architectures");
    const Node* labels = config_.find("id2label");
    const std::string name = !classes ? "" : classes->items.empty() ? classes->scalar : classes->items.front().scalar;
    const std::int64_t counted =
        labels && labels->kind == Kind::kMap && !labels->entries.empty() ? std::int64_t(labels->entries.size()) : 2;
    const std::int64_t number = fields_.integer(
        {"num_labels", "Classes of the head of a ForSequenceClassification model.", "the number of id2label, or 2"},
        {1, 1 << 20}, counted);
    const bool sequence = name.ends_with("ForSequenceClassification"),
               tokens = name.ends_with("ForTokenClassification");
    if (fields_.describing() || fields_.has_value("classes") || !(sequence || tokens)) return;
    model_.classes = number;
    model_.classifies_tokens = tokens;
  }

  LayerKind kind_of(std::int64_t layer) const { return model_.kind_of_layer(layer); }

  void set_rotary(const std::function<bool(std::int64_t)>& is_rotary) {
    std::vector<LayerKind> kinds;
    for (std::int64_t i = 0; i < model_.layers; ++i) kinds.push_back({kind_of(i).window, is_rotary(i)});
    model_.layer_kinds = std::move(kinds);
  }

  void read_layers_without_positions() {
    const auto every =
        fields_.integer({"no_rope_layer_interval", "Every n-th layer has no positions."}, {1, 1 << 12}, 4);
    const auto list =
        fields_.list({"no_rope_layers", "1 for each layer with positions, 0 for one without.", "every n-th without"},
                     {ValueType::integer(0, 1)});
    if (fields_.describing() || !covers("no_rope_layers", list)) return;
    for (const Node* one : list) {
      if (one->scalar == "0" || one->scalar == "1") continue;
      return fields_.error_at(one->place, "no_rope_layers: 0 or 1 is expected for each layer");
    }
    set_rotary([&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      return at < list.size() ? list[at]->scalar != "0" : (i + 1) % every != 0;
    });
    // Windows are those of layers without positions.
    const Node* types = config_.find("layer_types");
    if (types && types->kind != Kind::kNull) return;
    for (LayerKind& kind : model_.layer_kinds) {
      if (kind.rotary) kind.window = 0;
    }
  }

  void rotate_windowed_layers_only() {
    const Node* types = config_.find("layer_types");
    const auto words = types ? types->items : std::vector<Node>{};
    const auto stated = fields_.has_value("full_attention_every") && !fields_.describing()
                            ? parse_number(config_.find(fields_.stated_name("full_attention_every"))->scalar)
                            : std::nullopt;
    const auto every = static_cast<std::int64_t>(stated.value_or(static_cast<double>(row_.windows.full_every)));
    set_rotary([&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      if (at < words.size()) return is_windowed(words[at].scalar).value_or(true);
      return every == 0 || (i + 1) % every != 0;
    });
  }

  void read_rotary_width() {
    const auto width =
        fields_.integer({"rotary_dim", "Elements of a head that rotary positions turn."}, {0, 1 << 17}, 64);
    const auto head = model_.head_dim > 0 ? model_.head_dim : 1;
    model_.traits.rotary_share = width == 0 ? 1 : std::min(1.0, static_cast<double>(width) / static_cast<double>(head));
  }

  void read_parallel_norms() {
    const auto norms = fields_.integer({"num_ln_in_parallel_attn", "Norms before parallel attention and MLP.",
                                        "2 with new_decoder_architecture, else 1"},
                                       {1, 2}, model_.traits.shared_norm ? 1 : 2);
    if (model_.traits.parallel) model_.traits.shared_norm = norms == 1;
  }

  void read_expansion() {
    const double ratio =
        fields_.number({"expansion_ratio", "Width of the MLP relative to the hidden size."}, {0.01, 64}, 4);
    if (!fields_.describing() && !fields_.has_value("intermediate"))
      model_.intermediate =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(ratio * static_cast<double>(model_.hidden)));
  }

  void read_embedding_width() {
    const auto width = fields_.integer({"word_embed_proj_dim", "The width of the embedding.", "the hidden size"},
                                       {1, 1 << 17}, model_.hidden);
    if (width != model_.hidden)
      error("word_embed_proj_dim",
            fmt::format("an embedding width other than the hidden size {} is not modelled", model_.hidden));
  }

  const Node& config_;
  const FamilyRow& row_;
  Transformer& model_;
  Fields& fields_;
};

// Other keys of a config.json have no effect; where a known one is absent, a key of as many words that misspells it is an error.
void refuse_misspelt(const Node& config, const FamilyRow& row, Fields& fields) {
  const auto words = [](const std::string& key) { return std::ranges::count(key, '_'); };
  std::vector<std::string> absent;
  for (const auto& [own, name] : row.hugging_face) {
    if (!config.find(name) && !config.find(own)) absent.push_back(name);
  }
  for (const ConfigFlag& flag : row.flags) {
    if (!config.find(flag.key)) absent.emplace_back(flag.key);
  }
  for (const Entry& entry : config.entries) {
    const std::string meant = nearest(entry.key, absent);
    if (!meant.empty() && words(meant) == words(entry.key))
      fields.error_at(entry.place, fmt::format("unknown key \"{}\", and \"{}\" is absent; did you mean it?",
                                               printable(entry.key).substr(0, 64), meant));
  }
}

}  // namespace

void read_config_flags(const FamilyRow& row, Transformer& model, Fields& fields) {
  for (const ConfigFlag& flag : row.flags) flag.apply(model, fields.flag({flag.key, flag.about}, flag.fallback));
}

void read_hugging_face(const Node& config, const FamilyRow& row, Transformer& model, Fields& fields) {
  ConfigReader(config, row, model, fields).read();
  refuse_misspelt(config, row, fields);
}

void set_windows(Transformer& model, std::int64_t tokens, std::int64_t full_every) {
  model.layer_kinds.clear();
  if (tokens <= 0 || tokens >= model.sequence || full_every == 1) return;
  model.layer_kinds.assign(static_cast<std::size_t>(std::max<std::int64_t>(full_every, 1)), {.window = tokens});
  if (full_every > 1) model.layer_kinds.back().window = 0;
}

}  // namespace slmsim
