// The tensors that hold an operator's parameters in a framework, to which gradient compression applies: matrices of
// products and tables, and vectors of biases and norms. A product of several parts, such as queries, keys and values,
// is one matrix, as in GPT-2.
#pragma once

#include <vector>

#include "sim/compute/operator.h"

namespace slmsim {

struct GradientMatrix {
  double rows = 0, columns = 0;

  double elements() const { return rows * columns; }
  bool operator==(const GradientMatrix&) const = default;
};

struct GradientTensors {
  std::vector<GradientMatrix> matrices;
  double vectors = 0;  // elements of all vectors
};

// Trained parameters only: a tied head has none of its own.
GradientTensors gradient_tensors(const Operator& op);

}  // namespace slmsim
