#include "sim/model/transformer.h"

#include <fmt/format.h>

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

struct Keys {
  std::string family, hidden, heads, layers, sequence;
};

Keys keys_of(bool hugging_face, Family family) {
  if (!hugging_face) return {"family", "hidden", "heads", "layers", "sequence"};
  if (family == Family::kGpt2) return {"model_type", "n_embd", "n_head", "n_layer", "n_positions"};
  return {"model_type", "hidden_size", "num_attention_heads", "num_hidden_layers", "max_position_embeddings"};
}

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
  model.name = hugging_face ? fallback_name : fields.name({"name", "What the model is called in results."});
  model.hidden = fields.integer({keys.hidden, "The hidden size."}, kHiddenRange);
  model.heads = fields.integer({keys.heads, "Attention heads; they divide the hidden size."}, kHeadsRange);
  model.layers = fields.integer({keys.layers, "Transformer layers."}, kLayersRange);
  model.sequence = fields.integer({keys.sequence, "Tokens of one training sequence."}, kSequenceRange);
  model.vocabulary = fields.integer(
      {hugging_face ? "vocab_size" : "vocabulary", "Tokens that the embedding and the head know."}, kVocabularyRange);

  const std::string kv_key = hugging_face ? "num_key_value_heads" : "kv_heads";
  model.kv_heads =
      llama ? fields.integer({kv_key, "Heads of keys and values; fewer than heads with grouped-query attention.",
                              "as many as heads"},
                             kHeadsRange, model.heads)
            : model.heads;
  const std::string width_key = !hugging_face ? "intermediate" : llama ? "intermediate_size" : "n_inner";
  const bool width_given = fields.has_value(width_key);
  model.intermediate =
      width_given || llama
          ? fields.integer({width_key, "The width of the MLP.", llama ? "" : "4 times the hidden size"},
                           kIntermediateRange)
          : 4 * model.hidden;
  model.tied_embedding = fields.flag(
      {hugging_face ? "tie_word_embeddings" : "tied_embedding", "Whether the head uses the token embedding's weights."},
      !llama);
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
    fields.error(kv_key, fmt::format("{} key-value heads do not divide {} heads; choose a divisor", model.kv_heads,
                                     model.heads));
  }
  if (!hugging_face) fields.done();
  return model;
}

}  // namespace slmsim
