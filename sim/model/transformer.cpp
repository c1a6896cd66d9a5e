#include "sim/model/transformer.h"

#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/base/suggest.h"

namespace slmsim {
namespace {

// Bounds far beyond any model of today; they catch slips of a digit and keep all products inside a double's
// 2^53.
constexpr Range<std::int64_t> kHiddenRange{1, 1 << 17};
constexpr Range<std::int64_t> kHeadsRange{1, 1 << 12};
constexpr Range<std::int64_t> kLayersRange{1, 1 << 12};
constexpr Range<std::int64_t> kSequenceRange{1, 1 << 22};
constexpr Range<std::int64_t> kVocabularyRange{1, 1 << 24};
constexpr Range<std::int64_t> kIntermediateRange{1, 1 << 20};

// The longest that is taken for a training sequence where only the longest possible one is told: Llama 2's.
constexpr std::int64_t kLongestByItself = 4096;

struct Keys {
  std::string family, hidden, heads, kv_heads, layers, sequence, vocabulary, intermediate;
};
const Keys kOwn = {"family", "hidden", "heads", "kv_heads", "layers", "sequence", "vocabulary", "intermediate"};

Keys keys_of(bool hugging_face, Family family) {
  if (!hugging_face) return kOwn;
  if (family == Family::kGpt2)
    return {"model_type", "n_embd", "n_head", "", "n_layer", "n_positions", "vocab_size", "n_inner"};
  return {"model_type",          "hidden_size",       "num_attention_heads",
          "num_key_value_heads", "num_hidden_layers", "max_position_embeddings",
          "vocab_size",          "intermediate_size"};
}

// A figure by the file's own key, or, in a Hugging Face config.json too, by this project's, which then counts: so a
// sequence may be stated beside the longest possible one, and overrides are the same for all models.
class Figures {
 public:
  Figures(Fields& fields, bool hugging_face) : fields_(fields), hugging_face_(hugging_face) {}

  std::int64_t read(const std::string& own, const std::string& theirs, const std::string& what,
                    Range<std::int64_t> range, std::optional<std::int64_t> fallback = std::nullopt,
                    const std::string& otherwise = "") {
    known_.insert({own, theirs});
    if (!hugging_face_) return fields_.integer({own, what, otherwise}, range, fallback);
    const bool stated = fields_.has_value(own);
    std::int64_t value = 0;
    if (stated) value = fields_.integer({own, what + " In place of " + theirs + ".", "as " + theirs}, range, range.low);
    if (!stated || fields_.describing()) value = fields_.integer({theirs, what, otherwise}, range, fallback);
    return value;
  }

  bool has(const std::string& own, const std::string& theirs) {
    return (hugging_face_ && fields_.has_value(own)) || fields_.has_value(theirs);
  }
  void know(const std::string& key) { known_.insert(key); }

  // Keys of a config.json that nobody needs are no errors, but those that were laid upon it are.
  void refuse_unknown_overrides(const Node& node, Reading& reading) const {
    for (const Entry& entry : node.entries) {
      const bool laid_on =
          entry.place.source && node.place.source && entry.place.source->name != node.place.source->name;
      if (laid_on && !known_.contains(entry.key))
        reading.error(entry.place, fmt::format("unknown key \"{}\" of a model; {}", printable(entry.key).substr(0, 64),
                                               did_you_mean(entry.key, {known_.begin(), known_.end()})));
    }
  }

 private:
  Fields& fields_;
  bool hugging_face_ = false;
  std::set<std::string> known_;
};

}  // namespace

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> kNames = {"gpt2", "llama"};
  return kNames;
}

Transformer read_transformer(const Node& node, const std::string& path, const std::string& fallback_name,
                             Reading& reading) {
  const std::size_t errors_before = reading.errors.size();
  Fields fields(node, path, reading);
  const bool hugging_face = fields.forks_on("model_type");
  Transformer model;
  model.family = static_cast<Family>(fields.forking_choice(
      hugging_face ? FileKey{"model_type", "The family of a Hugging Face config.json, whose other keys are ignored."}
                   : FileKey{"family",
                             "The architecture: gpt2 has learned positions, layer norms and GELU; llama has rotary "
                             "positions, RMS norms and SwiGLU."},
      family_names()));
  const Keys keys = keys_of(hugging_face, model.family);
  const bool llama = model.family == Family::kLlama;
  Figures figures(fields, hugging_face);
  figures.know(keys.family);
  model.name = hugging_face ? fallback_name : fields.name({"name", "What the model is called in results."});
  model.hidden = figures.read(kOwn.hidden, keys.hidden, "The hidden size.", kHiddenRange);
  model.heads = figures.read(kOwn.heads, keys.heads, "Attention heads; they divide the hidden size.", kHeadsRange);
  model.layers = figures.read(kOwn.layers, keys.layers, "Transformer layers.", kLayersRange);
  model.sequence = figures.read(kOwn.sequence, keys.sequence, "Tokens of one training sequence.", kSequenceRange);
  if (hugging_face && !fields.describing() && !fields.has_value(kOwn.sequence) && model.sequence > kLongestByItself)
    fields.error(keys.sequence,
                 fmt::format("{} {} is the longest sequence that the model takes, hardly that of its training; say "
                             "which, e.g. by --set models.0.sequence=2048",
                             keys.sequence, model.sequence));
  model.vocabulary =
      figures.read(kOwn.vocabulary, keys.vocabulary, "Tokens that the embedding and the head know.", kVocabularyRange);
  model.kv_heads = llama ? figures.read(kOwn.kv_heads, keys.kv_heads,
                                        "Heads of keys and values; fewer than heads with grouped-query attention.",
                                        kHeadsRange, model.heads, "as many as heads")
                         : model.heads;
  model.intermediate = llama || figures.has(kOwn.intermediate, keys.intermediate)
                           ? figures.read(kOwn.intermediate, keys.intermediate, "The width of the MLP.",
                                          kIntermediateRange, std::nullopt, llama ? "" : "4 times the hidden size")
                           : 4 * model.hidden;
  const std::string tied_key = hugging_face ? "tie_word_embeddings" : "tied_embedding";
  figures.know(tied_key);
  figures.know("resid_pdrop");
  model.tied_embedding = fields.flag({tied_key, "Whether the head uses the token embedding's weights."}, !llama);
  if (hugging_face && !llama) {
    constexpr double kResidualDropout = 0.1;  // GPT2Config's default
    model.dropout =
        fields.number({"resid_pdrop", "The share that dropout drops; 0: none."}, {0, 1}, kResidualDropout) > 0;
  } else if (!hugging_face) {
    model.dropout = fields.flag(
        {"dropout", "Whether training drops some of attention's probabilities, of both branches and of the embedding."},
        !llama);
  }

  // Figures that could not be read divide nothing.
  const bool read = reading.errors.size() == errors_before;
  if (read && model.hidden % model.heads != 0) {
    fields.error(keys.heads,
                 fmt::format("{} heads do not divide the hidden size {}; choose a divisor", model.heads, model.hidden));
  }
  if (read && model.heads % model.kv_heads != 0) {
    fields.error(keys.kv_heads, fmt::format("{} key-value heads do not divide {} heads; choose a divisor",
                                            model.kv_heads, model.heads));
  }
  if (hugging_face) {
    const std::int64_t size = read && model.heads > 0 ? model.hidden / model.heads : 0;
    figures.know("head_dim");
    if (!fields.describing() && size > 0 && fields.has_value("head_dim") &&
        fields.integer({"head_dim", "The width of a head."}, kHiddenRange) != size)
      fields.error("head_dim", fmt::format("heads that are not hidden size / heads = {} wide are not modelled", size));
    figures.refuse_unknown_overrides(node, reading);
  } else {
    fields.done();
  }
  return model;
}

}  // namespace slmsim
