#include "sim/compute/transformer.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/compute/family_row.h"

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

// Bounds far above any current model; they catch wrong digits and keep all products within a double's 2^53.
constexpr Range<std::int64_t> kHiddenRange{1, 1 << 17};
constexpr Range<std::int64_t> kHeadsRange{1, 1 << 12};
constexpr Range<std::int64_t> kLayersRange{1, 1 << 12};
constexpr Range<std::int64_t> kSequenceRange{1, 1 << 22};
constexpr Range<std::int64_t> kVocabularyRange{1, 1 << 24};
constexpr Range<std::int64_t> kIntermediateRange{1, 1 << 20};
constexpr Range<std::int64_t> kWindowRange{1, std::numeric_limits<std::int32_t>::max()};

constexpr std::string_view kAsInTransformers = "as in transformers";

// Longest training sequence where only the longest possible one is given: Llama 2's.
constexpr std::int64_t kLongestByItself = 4096;

// Words of both formats. A squared ReLU and the kernel of xIELU move the same bytes as GELU.
struct ActivationWord {
  const char* word;
  Activation activation;
};
constexpr ActivationWord kActivations[] = {{"gelu", Activation::kGelu},
                                           {"relu", Activation::kRelu},
                                           {"silu", Activation::kSilu},
                                           {"gelu_new", Activation::kGeluNew},
                                           {"gelu_fast", Activation::kGeluNew},
                                           {"gelu_pytorch_tanh", Activation::kGelu},
                                           {"quick_gelu", Activation::kQuickGelu},
                                           {"swish", Activation::kSilu},
                                           {"gelu_python", Activation::kGelu},
                                           {"relu2", Activation::kGelu},
                                           {"xielu", Activation::kGelu}};

class TransformerReader {
 public:
  TransformerReader(const Node& node, const std::string& path, Reading& reading, bool hugging_face, Family family)
      : node_(node),
        reading_(reading),
        hugging_face_(hugging_face),
        row_(row_of(family)),
        fields_(node, path, reading, hugging_face ? row_.hugging_face : SecondNames{}) {
    model_.family = family;
    model_.traits = row_.traits;
  }

  Transformer read(const std::string& fallback_name) {
    const std::size_t errors_before = reading_.errors.size();
    fields_.has(hugging_face_ ? "model_type" : "family");
    model_.name = fields_.name({"name", "Name of the model in results.", hugging_face_ ? "its file's name" : ""},
                               hugging_face_ ? std::optional(fallback_name) : std::nullopt);
    if (hugging_face_) read_config_flags(row_, model_, fields_);
    read_sizes();
    read_traits();
    read_head();
    read_windows();
    if (hugging_face_) {
      read_hugging_face(node_, row_, model_, fields_);
      fields_.done_but_for_its_own();
    } else {
      fields_.hint(foreign_names());
      fields_.done();
    }
    // Skip checks that divide by values that failed to read.
    if (reading_.errors.size() == errors_before) check();
    return model_;
  }

 private:
  // True if the file uses this project's own key, in either format.
  bool stated(const std::string& key) { return fields_.has_value(key) && fields_.stated_name(key) == key; }

  // A size that the family's class in transformers has a default for; `usual` is 0 where it has none. In this project's
  // files it is required.
  std::int64_t size(const char* key, std::string_view about, Range<std::int64_t> range, std::int64_t usual) {
    const bool absent = fields_.describing() || !node_.find(fields_.stated_name(key));
    if (!hugging_face_ || usual == 0 || !absent) return fields_.integer({key, about}, range);
    return by_class({key, about, kAsInTransformers}, range, usual);
  }

  // An absent size is the one that the family's class has, and is listed.
  std::int64_t by_class(const FileKey& key, Range<std::int64_t> range, std::int64_t usual) {
    const std::int64_t value = fields_.integer(key, range, usual);
    if (!fields_.has_value(key.name))
      model_.by_class.push_back(fmt::format("{} {}", fields_.stated_name(key.name), value));
    return value;
  }

  void read_sizes() {
    const UsualSizes& usual = row_.sizes;
    model_.hidden = size("hidden", "The hidden size.", kHiddenRange, usual.hidden);
    model_.heads = size("heads", "Number of attention heads; it divides the hidden size.", kHeadsRange, usual.heads);
    model_.layers = size("layers", "Number of transformer layers.", kLayersRange, usual.layers);
    read_sequence();
    model_.vocabulary = size("vocabulary", "Vocabulary size: tokens of the embedding and the head.", kVocabularyRange,
                             usual.vocabulary);
    read_kv_heads();
    const FileKey width{"intermediate", "The width of the MLP.",
                        !row_.traits.gated && usual.intermediate == 0 ? "4 times the hidden size"
                        : hugging_face_                               ? kAsInTransformers
                        : row_.traits.gated                           ? std::string_view()
                                                                      : "4 times the hidden size"};
    if (hugging_face_ && usual.intermediate > 0)
      model_.intermediate = size("intermediate", width.about, kIntermediateRange, usual.intermediate);
    else if (row_.traits.gated || fields_.has_value(width.name))
      model_.intermediate = fields_.integer(width, kIntermediateRange);
    else
      model_.intermediate = 4 * model_.hidden;
    const std::int64_t even = model_.heads > 0 ? model_.hidden / model_.heads : 0;
    const FileKey head{"head_dim", "The width of a head.", "hidden / heads"};
    model_.head_dim = hugging_face_ && usual.head_dim > 0 ? size("head_dim", head.about, kHiddenRange, usual.head_dim)
                                                          : fields_.integer(head, kHiddenRange, even);
  }

  // A flag of the family may have fixed the number, whatever the config's key says.
  void read_kv_heads() {
    const std::int64_t fixed = model_.kv_heads;
    model_.kv_heads = fixed > 0 ? fixed : model_.heads;
    if (!row_.traits.grouped) return;
    const FileKey key{"kv_heads", "Number of key-value heads; fewer than heads with grouped-query attention.",
                      "the number of heads"};
    const bool absent = !node_.find(fields_.stated_name("kv_heads"));  // null: the number of heads
    if (fixed > 0 && !stated("kv_heads") && !fields_.describing())
      fields_.has("kv_heads");
    else if (!hugging_face_)
      model_.kv_heads = fields_.integer(key, kHeadsRange, model_.heads);
    else
      model_.kv_heads =
          by_class(key, kHeadsRange, absent && row_.sizes.kv_heads > 0 ? row_.sizes.kv_heads : model_.heads);
  }

  // Names in Hugging Face's config.json of the same sizes, and the usual ones of a sequence's length.
  std::map<std::string, std::string> foreign_names() const {
    std::map<std::string, std::string> out;
    const auto add = [&](const std::string& name, const std::string& own) {
      if (name != own) out[name] = fmt::format("did you mean \"{}\"?", own);
    };
    for (const auto family : {model_.family, Family::kGpt2, Family::kLlama}) {
      for (const auto& [own, name] : row_of(family).hugging_face) {
        if (own != "positions" && own != "sequence") add(name, own);  // the longest possible, not the training's
      }
    }
    for (const auto* name : {"sequence_length", "seq_length", "seq_len"}) add(name, "sequence");
    return out;
  }

  // Configs count the rows of the table of positions: RoBERTa's with those before the first position.
  bool counts_offset() const { return hugging_face_ && row_.traits.learned_positions && !row_.traits.causal; }

  void read_sequence() {
    model_.sequence = size("sequence", "Tokens of one training sequence.", kSequenceRange, row_.sizes.positions);
    const std::int64_t before = counts_offset() ? row_.traits.position_offset : 0;
    if (!stated("sequence")) model_.sequence = std::max(model_.sequence - before, std::int64_t{1});
    const std::string& key = fields_.stated_name("sequence");
    if (hugging_face_ && !fields_.describing() && !stated("sequence") && model_.sequence > kLongestByItself)
      fields_.error(
          "sequence",
          fmt::format("{} {} is the longest sequence of the model, rarely the training length; state it, e.g. {}", key,
                      model_.sequence,
                      fields_.path_of("sequence") == key ? "\"sequence\": 2048"
                                                         : fmt::format("--set {}=2048", own_path("sequence"))));
    if (!row_.traits.learned_positions) return;
    const std::int64_t usual = hugging_face_ ? row_.sizes.positions : model_.sequence;
    model_.positions =
        fields_.integer({"positions", "Number of learned positions.",
                         hugging_face_ ? kAsInTransformers : std::string_view("the length of the sequence")},
                        kSequenceRange, usual);
    if (!stated("positions")) model_.positions = std::max(model_.positions - before, std::int64_t{1});
    if (model_.sequence > model_.positions && !fields_.describing())
      fields_.error(
          "sequence",
          fmt::format("a sequence of {} exceeds the {} learned positions; choose a shorter one, or state positions",
                      model_.sequence, model_.positions));
  }

  void read_traits() {
    Traits& t = model_.traits;
    const auto flag = [&](const char* key, std::string_view about, bool& value) {
      value = fields_.flag({key, about, "as in the family"}, value);
    };
    model_.tied_embedding = t.tied_embedding;
    flag("tied_embedding", "Whether the head uses the token embedding's weights.", model_.tied_embedding);
    flag("qkv_bias", "Whether queries, keys and values have biases.", t.qkv_bias);
    flag("projection_bias", "Whether attention's projection has a bias.", t.projection_bias);
    flag("mlp_bias", "Whether the MLP's products have biases.", t.mlp_bias);
    std::vector<std::string> words;
    std::size_t usual = 0;
    for (const auto& [word, activation] : kActivations) words.emplace_back(word);
    // GPT-2's config.json means gelu_new; this project's files mean one kernel unless they say otherwise.
    if (hugging_face_ && model_.family == Family::kGpt2) t.activation = Activation::kGeluNew;
    t.casts_logits = hugging_face_ && t.causal;
    while (kActivations[usual].activation != t.activation) ++usual;
    t.activation = kActivations[fields_.choice({"activation", "Activation function of the MLP.", "as in the family"},
                                               words, usual)]
                       .activation;
    if (!t.learned_positions)
      t.rotary_share = fields_.number(
          {"rotary_share", "Share of queries and keys that rotary positions rotate.", "as in the family"}, {0, 1},
          t.rotary_share);
    if (t.parallel) flag("parallel", "Whether attention and MLP are parallel, with the same input.", t.parallel);
    model_.dropout = read_dropout("dropout", "Dropout on both branches and on the embedding: yes, no or its rate.",
                                  t.dropout, "as in the family");
    const bool attention_too = !hugging_face_ || (stated("dropout") && row_.hugging_face.contains("attention_dropout"));
    const bool usually = attention_too ? model_.dropout : t.dropout && row_.hugging_face.contains("attention_dropout");
    if (attention_too && hugging_face_ && !stated("attention_dropout") && !fields_.describing()) {
      fields_.has("attention_dropout");
      model_.attention_dropout = model_.dropout;
    } else {
      model_.attention_dropout = read_dropout(
          "attention_dropout", "Dropout on attention's probabilities: yes, no or its rate.", usually, "as dropout");
    }
  }

  void read_head() {
    constexpr Range<std::int64_t> kClassesRange{1, 1 << 20};
    if (fields_.has("classes"))
      model_.classes =
          fields_.integer({"classes", "Classes of a sequence that the head predicts in place of tokens.",
                           hugging_face_ ? std::string_view("as the config's head") : std::string_view("none")},
                          kClassesRange, model_.classes);
  }

  void read_windows() {
    if (!row_.traits.causal || (hugging_face_ && !row_.windows.possible)) return;
    const Windows usual = hugging_face_ ? row_.windows : Windows{};
    const FileKey key{"window", "Tokens that attention looks back over, its own included.", "all tokens"};
    const Node* stated = node_.find(fields_.stated_name("window"));
    const bool none = stated && stated->kind == Node::Kind::kNull;
    std::int64_t tokens = none ? 0 : usual.tokens;
    if (fields_.has_value("window")) tokens = fields_.integer(key, kWindowRange);
    const std::int64_t full_every =
        fields_.integer({"full_attention_every", "Every n-th layer attends to all tokens, without a window; 0: none.",
                         hugging_face_ ? kAsInTransformers : std::string_view()},
                        {0, kLayersRange.high}, usual.full_every);
    set_windows(model_, tokens, full_every);
  }

  bool read_dropout(const std::string& key, std::string_view about, bool usual, std::string_view otherwise) {
    const FileKey named{key, about, otherwise};
    const bool share = fields_.has_number(key);
    bool drops = usual;
    if (!share || fields_.describing()) drops = fields_.flag(named, usual);
    return share ? fields_.number(named, {0, 1}, 0.0) > 0 : drops;
  }

  void check() {
    const bool of_class = hugging_face_ && row_.sizes.head_dim > 0;
    if (!of_class && !fields_.has_value("head_dim") && model_.hidden % model_.heads != 0)
      fields_.error("heads", fmt::format("{} heads do not divide the hidden size {}; choose a divisor", model_.heads,
                                         model_.hidden));
    if (model_.heads % model_.kv_heads != 0)
      fields_.error("kv_heads", fmt::format("{} key-value heads do not divide {} heads; choose a divisor",
                                            model_.kv_heads, model_.heads));
  }

  // As written for --set.
  std::string own_path(const std::string& key) const {
    const std::string at = fields_.path_of(key);
    return at.substr(0, at.size() - fields_.stated_name(key).size()) + key;
  }

  const Node& node_;
  Reading& reading_;
  bool hugging_face_ = false;
  const FamilyRow& row_;
  Fields fields_;
  Transformer model_;
};

}  // namespace

const std::vector<std::string>& lora_target_names() {
  static const std::vector<std::string> kNames = {"query", "key", "value", "output", "up", "down"};
  return kNames;
}

Transformer read_transformer(const Node& node, const std::string& path, const std::string& fallback_name,
                             Reading& reading) {
  const std::size_t errors_before = reading.errors.size();
  Fields own(node, path, reading);
  const bool hugging_face = own.forks_on("model_type"), uniform = hugging_face && !reading.describing();
  const Node config = uniform ? uniform_config(node) : Node{};
  const Node& file = uniform ? config : node;
  std::optional<Fields> of_config;
  if (uniform) of_config.emplace(file, path, reading);
  Fields& fields = of_config ? *of_config : own;
  if (uniform) refuse_unmodelled(file, fields);
  const bool json = node.place.source && node.place.source->name.ends_with(".json");
  if (json && !hugging_face && node.kind == Node::Kind::kMap && !node.find("family"))
    reading.error(node.place, fmt::format("{} has no \"model_type\", which names the family in Hugging Face's "
                                          "config.json, e.g. \"llama\"",
                                          path.empty() ? "the file" : path));
  const FileKey model_type{
      "model_type", "The family of a Hugging Face config.json; its sizes have the names that transformers gives them."};
  // Each family has names of its own, which a publisher writes.
  if (hugging_face && reading.describing()) return fields.choice(model_type, family_names()), Transformer{};
  std::size_t family = 0;
  if (reading.errors.size() == errors_before)
    family = hugging_face
                 ? fields.choice(model_type, family_names())
                 : fields.forking_choice(
                       {"family",
                        "The architecture: gpt2 has learned positions, layer norms, biases and GELU; llama has rotary "
                        "positions, RMS norms and SwiGLU; the others are named as in Hugging Face's config.json."},
                       family_names());
  if (reading.errors.size() != errors_before) {
    // A file with a misspelt family reports its other errors too; a config of an unknown family does not report missing
    // keys.
    const Node* word = hugging_face ? nullptr : node.find("family");
    const std::string meant = word ? nearest(word->scalar, family_names()) : "";
    if (meant.empty()) return {};
    family = static_cast<std::size_t>(std::ranges::find(family_names(), meant) - family_names().begin());
  }
  return TransformerReader(file, path, reading, hugging_face, static_cast<Family>(family)).read(fallback_name);
}

std::string model_name_of(const std::filesystem::path& file) {
  // A folder's name may hold dots: Qwen2.5-0.5B.
  const std::string ending = file.extension().string();
  const bool is_file = ending == ".json" || ending == ".yaml" || ending == ".yml";
  std::string stem = (is_file ? file.stem() : file.filename()).string();
  if (stem != "config" && is_name(stem)) return stem;
  std::error_code failed;
  const std::string folder =
      std::filesystem::absolute(file, failed).lexically_normal().parent_path().filename().string();
  return is_name(folder) ? folder : "model";
}

const std::vector<FamilyRow>& family_table() {
  static const std::vector<FamilyRow> kRows = [] {
    auto rows = llama_families();
    std::ranges::copy(gpt_families(), std::back_inserter(rows));
    return rows;
  }();
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
    if (std::ranges::any_of(types, [&](const char* type) { return model_type.starts_with(type); })) return why;
  }
  return model_type.ends_with("_moe") ? "a mixture of experts" : "";
}

}  // namespace slmsim
