// A transformer, read from one of this project's model files or from a Hugging Face config.json (Family
// lists the families).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/yaml.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// Differences between families of transformers, and the keys of each in Hugging Face's config.json: one row of a table
// per family.
//
// Sources: the configuration and modelling code of Hugging Face's transformers (configuration_gpt2.py,
// modeling_gpt2.py, ...), for which the families' authors publish their weights.

// In the order of the table's rows.
enum class Family {
  kLlama,
  kMistral,
  kQwen2,
  kQwen3,
  kPhi3,
  kGemma,
  kGemma2,
  kGemma3,
  kOlmo,
  kOlmo2,
  kOlmo3,
  kSmolLm3,
  kGranite,
  kStableLm,
  kInternLm,
  kInternLm2,
  kMiniCpm,
  kCohere,
  kCohere2,
  kNemotron,
  kGlm,
  kGlm4,
  kApertus,
  kArcee,
  kBaichuan,
  kErnie,
  kExaone,
  kExaone4,
  kHelium,
  kHunYuan,
  kInternLm3,
  kSeedOss,
  kGpt2,
  kOpt,
  kGptNeoX,
  kStarCoder2,
  kPhi,
  kGptJ,
  kCodeGen,
  kGptNeo,
  kGptBigCode,
  kFalcon,
  kBloom,
  kMpt,
  kPersimmon,
  kXglm,
  kOpenAiGpt,
  kBert,
  kRoberta,
  kXlmRoberta,
  kCamembert,
  kDistilBert,
};

// The function that the MLP applies between its products.
// Hugging Face writes gelu_new and quick_gelu out in Python.
enum class Activation { kGelu, kRelu, kSilu, kGeluNew, kQuickGelu };
inline bool is_gelu(Activation activation) {
  return activation != Activation::kRelu && activation != Activation::kSilu;
}

// Norms of queries and keys: one scale of a head's width for all heads, or one for every element.
enum class QueryNorm { kNone, kShared, kWhole };

struct Traits {
  bool rms_norm = false;             // else layer norm
  int norm_vectors = 2;              // parameters of a norm per element: a scale and a shift, or fewer
  bool learned_positions = false;    // a table of them, added to the embedding; else rotary ones
  std::int64_t position_offset = 0;  // rows of that table before the first position
  std::int64_t token_types = 0;      // rows of a third table that is added to the embedding
  double rotary_share = 1;  // share of queries' and keys' elements that rotary positions turn; 0: ALiBi or none
  bool grouped = false;     // heads may share keys and values
  bool qkv_bias = false, projection_bias = false, mlp_bias = false, head_bias = false;
  bool gated = false;  // the MLP multiplies two products of its input (Shazeer, arXiv 2002.05202)
  bool joint_qkv = false, joint_gate = false;  // one product for queries, keys and values; for both before the gate
  Activation activation = Activation::kSilu;
  bool parallel = false;     // attention and MLP read the same stream (Wang and Komatsuzaki, GPT-J),
  bool shared_norm = false;  // and the output of the same norm
  bool norm_before = true;   // a norm before attention and MLP,
  bool branch_norm = false;  // at the end of both branches,
  bool norm_behind = false;  // or of the stream after each, and none before the head (BERT)
  bool embedding_norm = false;
  QueryNorm query_norm = QueryNorm::kNone;
  int query_norm_vectors = 1;
  bool norm_casts_first = false;  // norms of queries, keys, branches cast to 16 bits, then scale
  bool score_cap = false;         // tanh bounds the scores
  bool logit_cap = false;         // tanh bounds the logits
  bool casts_logits = false;      // to fp32 before the loss, as decoders of transformers do
  bool causal = true;  // else an encoder: tokens attend to later ones too, and the head predicts masked tokens
  bool tied_embedding = true, dropout = false;  // unless the model's file says otherwise

  bool operator==(const Traits&) const = default;
};

struct Transformer;

// Sizes that the family's class in transformers assumes for missing keys; 0: hidden / heads for the width of heads, the
// number of heads for key-value heads, 4 times the hidden size for the MLP.
struct UsualSizes {
  std::int64_t hidden, heads, kv_heads, layers, positions, vocabulary, intermediate, head_dim = 0;
};

// Attention that looks back over a window of tokens in some layers.
struct Windows {
  bool possible = false;
  bool if_asked = false;        // only with use_sliding_window
  std::int64_t tokens = 0;      // 0: none unless stated
  std::int64_t full_every = 0;  // every n-th layer attends to all tokens; 0: no layer
};

// A key of config.json with yes or no that changes traits or sizes.
struct ConfigFlag {
  const char* key;
  const char* about;
  bool fallback;
  void (*apply)(Transformer& model, bool value);
};

struct FamilyRow {
  const char* name = "";  // in this project's files, and as model_type in a config.json
  Traits traits;
  SecondNames hugging_face;  // this project's key to Hugging Face's
  UsualSizes sizes;
  Windows windows = {};
  std::vector<ConfigFlag> flags = {};
  const char* unmodelled = nullptr;  // a sentence on what is not modelled
};

const std::vector<FamilyRow>& family_table();
inline const FamilyRow& row_of(Family family) { return family_table()[static_cast<std::size_t>(family)]; }
inline const Traits& traits_of(Family family) { return row_of(family).traits; }

// Family names as the files write them.
const std::vector<std::string>& family_names();
// The reason why a model_type of Hugging Face cannot be modelled ("a mixture of experts"); empty where it is unknown.
std::string why_not_modelled(const std::string& model_type);

// Low-rank adapters (LoRA: Hu et al., arXiv 2106.09685, section 4.1). The model's own weights are frozen; a product W x
// of n outputs and k inputs gets B A x added, with A of rank x k and B of n x rank. Only A and B are trained.

// Products with an adapter each; kUp of gated MLPs stands for both products before the gate.
enum class LoraTarget { kQuery, kKey, kValue, kOutput, kUp, kDown };
const std::vector<std::string>& lora_target_names();  // "query", "key", "value", "output", "up", "down"

struct Lora {
  int rank = 0;
  std::vector<LoraTarget> targets;
  bool dropout = false;  // on each adapter's input

  bool operator==(const Lora&) const = default;
};

// Differences between a model's layers.
struct LayerKind {
  std::int64_t window = 0;  // tokens that attention looks back over, its own included; 0: all
  bool rotary = true;       // queries and keys have positions, if those of the family are rotary

  bool operator==(const LayerKind&) const = default;
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
  std::vector<LayerKind> layer_kinds = {};  // repeated from the first layer on; empty: all layers are alike
  std::int64_t classes = 0;                 // outputs of the head in place of the vocabulary; 0: none
  bool classifies_tokens = false;           // each token's class, not one for the sequence
  std::optional<Lora> lora = {};            // set by a scenario's training; none: all parameters are trained
  // Remarks on a config.json: absent sizes with the defaults of the class in transformers ("head_dim 256"), and sentences on
  // its parts that are not modelled.
  std::vector<std::string> by_class = {}, unmodelled = {};

  bool drops_attention() const { return attention_dropout.value_or(dropout); }
  std::int64_t head_width() const { return head_dim > 0 ? head_dim : hidden / heads; }
  // Over all heads.
  std::int64_t query_width() const { return heads * head_width(); }
  std::int64_t kv_width() const { return kv_heads * head_width(); }
  LayerKind kind_of_layer(std::int64_t layer) const {
    return layer_kinds.empty() ? LayerKind{} : layer_kinds[static_cast<std::size_t>(layer) % layer_kinds.size()];
  }
  std::int64_t outputs() const { return classes > 0 ? classes : vocabulary; }  // of the head
  // A decoder's head of one class per sequence has none.
  bool head_bias() const { return classes > 0 ? classifies_tokens || !traits.causal : traits.head_bias; }
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

// A Hugging Face config.json.

// The config as its family's row expects it: the text model's part of a model of images and text, one name for each
// size, and values of inner maps beside the others. Errors in it keep their places.
Node uniform_config(const Node& config);

// Refuses mixtures of experts, state-space models and the like, by model_type or by keys that indicate them, with one
// error.
void refuse_unmodelled(const Node& config, Fields& fields);

// Reads flags of the family, which change its traits and the default number of key-value heads; before the sizes.
void read_config_flags(const FamilyRow& row, Transformer& model, Fields& fields);
// Reads keys that only one or a few families have, and those that are not modelled; after the sizes.
void read_hugging_face(const Node& config, const FamilyRow& row, Transformer& model, Fields& fields);

// Precision of the published weights ("torch_dtype" or "dtype"); none where the config does not state it. Throws InputError
// where it is none of this project's.
std::optional<Precision> stated_precision(const Node& config);

// Windows of `tokens` in all but every n-th layer; 0: in all. A window of the whole sequence is none.
void set_windows(Transformer& model, std::int64_t tokens, std::int64_t full_every);

}  // namespace slmsim
