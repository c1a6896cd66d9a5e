// The operators of one training step of a transformer.
//
// All figures are for one sequence and for the whole, undivided operator; they do not depend on GPUs. FLOPs of a matrix
// product m x k times k x n are 2 m n k; its backward pass consists of two such products.
#pragma once

#include <cstdint>

namespace slmsim {

enum class OperatorKind { kEmbedding, kNorm, kMatrix, kSoftmax, kActivation, kResidual, kLoss };

// The operator's role in a transformer.
enum class Role {
  kEmbedding,
  kEmbeddingNorm,
  kAttentionNorm,
  kQkv,
  kQueryNorm,
  kScores,
  kSoftmax,
  kValues,
  kProjection,
  kAttentionBranchNorm,
  kAttentionResidual,
  kMlpNorm,
  kMlpUp,
  kGelu,
  kSwiglu,  // or another gating function
  kRelu,
  kMlpDown,
  kMlpBranchNorm,
  kMlpResidual,
  kAdapterIn,   // A of LoRA
  kAdapterOut,  // B
  kAdapterSum,
  kHeadDense,  // of an encoder: a product, its activation and a norm stand before the head
  kFinalNorm,
  kHead,
  kLoss
};
// "qkv", "mlp up", ...: for people, and for the operators of `slmsim shapes`.
const char* name_of(Role role);

// `batch` independent products of (m x k) by (k x n); batch = 0: the operator is no matrix product.
struct MatrixShape {
  std::int64_t batch = 0, m = 0, n = 0, k = 0;
  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  bool operator==(const MatrixShape&) const = default;
};

// A GELU as one kernel of the framework, or as the functions that Hugging Face writes out in Python: gelu_new and
// quick_gelu (transformers/activations.py).
enum class GeluForm { kOneKernel, kNew, kQuick };

struct Operator {
  OperatorKind kind = OperatorKind::kMatrix;
  Role role = Role::kQkv;
  int layer = 0;          // -1: before the first layer; number of layers: after the last
  double parameters = 0;  // trained here; 0 for frozen weights and for a tied head's table
  double weights = 0;     // weight elements read
  MatrixShape matrix{};
  bool factor_transposed = false;  // the second factor is stored as n x k: keys, and the embedding as head
  // The largest numbers of equal, independent parts of its outputs and of its inner sum (attention: key-value heads;
  // embedding: width and vocabulary); 0: not divisible.
  std::int64_t columns = 0, rows = 0;
  double flops = 0;    // forward
  double tokens = 0;   // rows of the activations
  double inputs = 0;   // activation elements read, forward
  double outputs = 0;  // activation elements written, forward
  // Kept for the backward pass: elements in training precision, and bytes independent of the precision (dropout masks,
  // fp32 softmax of the loss). By Korthikanti et al., arXiv 2205.05198, section 4.1.
  double saved_elements = 0;
  double saved_bytes = 0;
  // The same for the scores, sequence x sequence for each head, which flash attention does not keep.
  double saved_scores = 0;
  double saved_score_bytes = 0;
  bool dropout = false;  // on its outputs; of an adapter's first product, on its inputs
  double bias = 0;       // elements of its bias
  double rotated = 0;    // output elements that rotary positions turn
  double repeated = 0;   // elements of keys and values once repeated for the heads that share them; 0: none share
  int products = 1;  // with weights, one behind the other in the framework: queries, keys and values, or gate and up
  // Queries and keys before their rotation, where one tensor holds them and the values: flash attention keeps that tensor.
  double beside_values = 0;
  bool capped = false;  // tanh bounds its inputs
  GeluForm gelu = GeluForm::kOneKernel;
  bool centred = false;       // a layer norm, even without a shift
  bool cast_first = false;    // a norm of 16-bit inputs that casts back to them before the product with its scale
  bool casts_logits = false;  // a loss that casts them to fp32 first
  // For scores and values: the share of the scores that flash attention computes, half of them where tokens attend to
  // earlier ones only.
  double attended = 0.5;
  bool reads_stream = false;  // a product whose input is the stream itself, not a norm's output
  bool tied = false;          // its weights are the embedding's table
  // For a layer's product with weights: the share of its outputs that belong to every second product, counted as
  // torchtitan's selective checkpoints count: queries, keys, values, projection, ...
  double second = 0;
  // With LoRA: `frozen` weights have no gradient; an `unreached` operator has nothing trained before it and receives no
  // gradient; the input of an `input_unneeded` one is not used in the backward pass.
  bool frozen = false, unreached = false, input_unneeded = false;

  // Weights that are divided together with the operator. The scales of the query and key norm serve every head and are
  // copied with each part.
  bool has_weights() const { return weights > 0 && role != Role::kQueryNorm; }
  bool is_rms_norm() const {
    return kind == OperatorKind::kNorm && !centred && weights * tokens <= outputs;  // a layer norm has a shift
  }
  // Attention between its products with weights: scores, softmax and values.
  bool is_attention_core() const { return role == Role::kScores || role == Role::kSoftmax || role == Role::kValues; }
  bool is_tied() const { return tied; }
  bool operator==(const Operator&) const = default;
  // True for the same operator of an equal layer.
  bool is_like(Operator other) const {
    other.layer = layer;
    return *this == other;
  }
};

// Whether an operator belongs to a layer, not to the parts before the first or after the last one.
inline bool is_inside_layers(const Operator& op, int layers) { return op.layer >= 0 && op.layer < layers; }

struct OperatorGraph;  // sim/compute/operator_graph.h includes Boost.Graph, which compiles slowly

}  // namespace slmsim
