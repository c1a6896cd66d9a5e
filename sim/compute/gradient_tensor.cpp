#include "sim/compute/gradient_tensor.h"

namespace slmsim {

GradientTensors gradient_tensors(const Operator& op) {
  GradientTensors out;
  if (op.parameters <= 0) return out;
  if (op.kind == OperatorKind::kEmbedding) {
    // Its table, and that of learned positions.
    const auto width = static_cast<double>(op.columns), words = static_cast<double>(op.rows);
    out.matrices.push_back({words, width});
    if (const double positions = op.parameters / width - words; positions > 0)
      out.matrices.push_back({positions, width});
  } else if (op.kind == OperatorKind::kMatrix) {
    out.matrices.push_back({static_cast<double>(op.matrix.n), static_cast<double>(op.matrix.k)});
    out.vectors = op.parameters - out.matrices.front().elements();
  } else {
    out.vectors = op.parameters;
  }
  return out;
}

}  // namespace slmsim
