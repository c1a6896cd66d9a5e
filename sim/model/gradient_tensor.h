// The tensors that a framework keeps an operator's parameters in, which is what compression of gradients goes by: matrices
// of products and tables, and vectors of biases and norms. A product of several parts, such as queries, keys and values, is
// one matrix, as GPT-2 has it.
#pragma once

#include <vector>

#include "sim/model/operator.h"

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

// Of what is trained here: a tied head has none of its own.
GradientTensors gradient_tensors(const Operator& op);

}  // namespace slmsim
