// The operators of one training step of a transformer.
//
// All figures are those of one sequence and of the whole, undivided operator; nothing here knows of GPUs.
// FLOPs of a matrix product m x k times k x n are 2 m n k; its backward pass is two such products.
#pragma once

#include <cstdint>

namespace slmsim {

enum class OperatorKind { kEmbedding, kNorm, kMatrix, kSoftmax, kActivation, kResidual, kLoss };

// Which operator of a transformer it is.
enum class Role {
  kEmbedding,
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
  kSwiglu,  // or another function that gates
  kRelu,
  kMlpDown,
  kMlpBranchNorm,
  kMlpResidual,
  kAdapterIn,   // A of LoRA
  kAdapterOut,  // B
  kAdapterSum,
  kFinalNorm,
  kHead,
  kLoss
};
// "qkv", "mlp up", ...: for people, and for the operators that `slmsim shapes` names.
const char* name_of(Role role);

// `batch` independent products of (m x k) by (k x n); batch = 0: the operator is no matrix product.
struct MatrixShape {
  std::int64_t batch = 0, m = 0, n = 0, k = 0;
  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  bool operator==(const MatrixShape&) const = default;
};

struct Operator {
  OperatorKind kind = OperatorKind::kMatrix;
  Role role = Role::kQkv;
  int layer = 0;          // -1: before the first layer; number of layers: after the last
  double parameters = 0;  // trained here; a tied head has none of its own, nor has what is frozen
  double weights = 0;     // elements of weights that it reads
  MatrixShape matrix{};
  bool factor_transposed = false;  // the second factor lies as n x k: keys, and the embedding as head
  // Into how many equal, independent parts its outputs and its inner sum can be cut at most (attention: key-value
  // heads; embedding: width and vocabulary); 0: not at all.
  std::int64_t columns = 0, rows = 0;
  double flops = 0;    // forward
  double tokens = 0;   // rows of the activations
  double inputs = 0;   // activation elements read, forward
  double outputs = 0;  // activation elements written, forward
  // What must be kept for the backward pass: elements in training precision, and bytes whatever the precision
  // (dropout masks, fp32 softmax of the loss). By Korthikanti et al., arXiv 2205.05198, section 4.1.
  double saved_elements = 0;
  double saved_bytes = 0;
  // The same of the scores, sequence x sequence for each head, which flash attention does not keep.
  double saved_scores = 0;
  double saved_score_bytes = 0;
  bool dropout = false;  // of what it writes
  double bias = 0;       // elements of its bias
  double rotated = 0;    // elements of what it writes that rotary positions turn
  bool capped = false;   // tanh bounds what it reads
  bool tied = false;     // its weights are the embedding's table
  // Of a layer's product with weights, the share of its outputs that every second of them writes, counted one by one as
  // torchtitan's selective checkpoints count: queries, keys, values, projection, ...
  double second = 0;
  // Beside LoRA's adapters: the weights have no gradient; nothing in front of it is trained, so that no gradient comes to it;
  // nothing needs its input in the backward pass.
  bool frozen = false, unreached = false, input_unneeded = false;

  // Weights that are divided with it. The scales of queries' and keys' norm serve every head: they go wherever one goes.
  bool has_weights() const { return weights > 0 && role != Role::kQueryNorm; }
  // Attention between its products with weights: scores, softmax and values.
  bool is_attention_core() const { return role == Role::kScores || role == Role::kSoftmax || role == Role::kValues; }
  bool is_tied() const { return tied; }
  bool operator==(const Operator&) const = default;
  // Of equal layers, the same operator.
  bool is_like(Operator other) const {
    other.layer = layer;
    return *this == other;
  }
};

// Whether an operator belongs to a layer, and not to what lies before the first or behind the last one.
inline bool is_inside_layers(const Operator& op, int layers) { return op.layer >= 0 && op.layer < layers; }

struct OperatorGraph;  // sim/model/operator_graph.h, whose Boost.Graph takes long to read

}  // namespace slmsim
