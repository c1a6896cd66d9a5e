#include "sim/compute/transformer.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"

namespace slmsim {

const std::vector<std::string>& lora_target_names() {
  static const std::vector<std::string> kNames = {"query", "key", "value", "output", "up", "down"};
  return kNames;
}

namespace {

// Bounds far above any current model; they catch wrong digits and keep all products within a double's 2^53.
constexpr Range<std::int64_t> kHiddenRange{1, 1 << 17};
constexpr Range<std::int64_t> kHeadsRange{1, 1 << 12};
constexpr Range<std::int64_t> kLayersRange{1, 1 << 12};
constexpr Range<std::int64_t> kSequenceRange{1, 1 << 22};
constexpr Range<std::int64_t> kVocabularyRange{1, 1 << 24};
constexpr Range<std::int64_t> kIntermediateRange{1, 1 << 20};

// Longest training sequence where only the longest possible one is given: Llama 2's.
constexpr std::int64_t kLongestByItself = 4096;

// Words of both formats.
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
                                           {"swish", Activation::kSilu}};

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
    read_sizes();
    read_traits();
    if (hugging_face_) {
      read_hugging_face(node_, row_, model_, fields_);
      fields_.done_but_for_its_own();
    } else {
      fields_.done();
    }
    // Skip checks that divide by values that failed to read.
    if (reading_.errors.size() == errors_before) check();
    return model_;
  }

 private:
  // True if the file uses this project's own key, in either format.
  bool stated(const std::string& key) { return fields_.has_value(key) && fields_.stated_name(key) == key; }

  void read_sizes() {
    model_.hidden = fields_.integer({"hidden", "The hidden size."}, kHiddenRange);
    model_.heads = fields_.integer({"heads", "Number of attention heads; it divides the hidden size."}, kHeadsRange);
    model_.layers = fields_.integer({"layers", "Number of transformer layers."}, kLayersRange);
    read_sequence();
    model_.vocabulary =
        fields_.integer({"vocabulary", "Vocabulary size: tokens of the embedding and the head."}, kVocabularyRange);
    model_.kv_heads =
        row_.traits.rms_norm
            ? fields_.integer({"kv_heads", "Number of key-value heads; fewer than heads with grouped-query attention.",
                               "the number of heads"},
                              kHeadsRange, model_.heads)
            : model_.heads;
    const FileKey width{"intermediate", "The width of the MLP.", row_.traits.gated ? "" : "4 times the hidden size"};
    model_.intermediate = row_.traits.gated || fields_.has_value(width.name)
                              ? fields_.integer(width, kIntermediateRange)
                              : 4 * model_.hidden;
    const std::int64_t usual = model_.heads > 0 ? model_.hidden / model_.heads : 0;
    const bool own_width = hugging_face_ && row_.head_dim > 0;
    model_.head_dim = fields_.integer(
        {"head_dim", "The width of a head.",
         own_width ? std::string_view("that of the family's first model") : std::string_view("hidden / heads")},
        kHiddenRange, own_width ? row_.head_dim : usual);
  }

  void read_sequence() {
    model_.sequence = fields_.integer({"sequence", "Tokens of one training sequence."}, kSequenceRange);
    const std::string& key = fields_.stated_name("sequence");
    if (hugging_face_ && !fields_.describing() && !stated("sequence") && model_.sequence > kLongestByItself)
      fields_.error(
          "sequence",
          fmt::format(
              "{} {} is the longest sequence of the model, rarely the training length; state it, e.g. --set {}=2048",
              key, model_.sequence, own_path("sequence")));
    if (!row_.traits.learned_positions) return;
    model_.positions = fields_.integer({"positions", "Number of learned positions.", "the length of the sequence"},
                                       kSequenceRange, model_.sequence);
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

  bool read_dropout(const std::string& key, std::string_view about, bool usual, std::string_view otherwise) {
    const FileKey named{key, about, otherwise};
    const bool share = fields_.has_number(key);
    bool drops = usual;
    if (!share || fields_.describing()) drops = fields_.flag(named, usual);
    return share ? fields_.number(named, {0, 1}, 0.0) > 0 : drops;
  }

  void check() {
    if (!fields_.has("head_dim") && model_.hidden % model_.heads != 0)
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

Transformer read_transformer(const Node& node, const std::string& path, const std::string& fallback_name,
                             Reading& reading) {
  const std::size_t errors_before = reading.errors.size();
  Fields fields(node, path, reading);
  const bool hugging_face = fields.forks_on("model_type");
  if (hugging_face && !reading.describing()) refuse_unmodelled(node, fields);
  const bool json = node.place.source && node.place.source->name.ends_with(".json");
  if (json && !hugging_face && node.kind == Node::Kind::kMap && !node.find("family"))
    reading.error(node.place,
                  fmt::format("{} has no \"model_type\", which names the family in Hugging Face's config.json: {}",
                              path, fmt::join(family_names(), ", ")));
  std::size_t family = 0;
  if (reading.errors.size() == errors_before)
    family = fields.forking_choice(
        hugging_face
            ? FileKey{"model_type", "The family of a Hugging Face config.json, whose other keys are ignored."}
            : FileKey{"family",
                      "The architecture: gpt2 has learned positions, layer norms, biases and GELU; llama has rotary "
                      "positions, RMS norms and SwiGLU; the others are named as in Hugging Face's config.json."},
        family_names());
  if (reading.errors.size() != errors_before) {
    // A file with a misspelt family reports its other errors too; a config of an unknown family does not report missing
    // keys.
    const Node* word = hugging_face ? nullptr : node.find("family");
    const std::string meant = word ? nearest(word->scalar, family_names()) : "";
    if (meant.empty()) return {};
    family = static_cast<std::size_t>(std::find(family_names().begin(), family_names().end(), meant) -
                                      family_names().begin());
  }
  return TransformerReader(node, path, reading, hugging_face, static_cast<Family>(family)).read(fallback_name);
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

}  // namespace slmsim
