// The kernels of which an operator consists, by the names and sizes under which slmsim-calibrate times them and a GPU's
// profile holds them.
//
//   gemm-nn, -nt, -tn   `batch` products of (m x k) by (k x n), row-major; t: the factor lies transposed in memory
//   softmax-, norm-, gelu-, swiglu-, residual-, loss-forward and -backward   m rows of n elements
//   adam                m parameters
#pragma once

#include <string>
#include <vector>

#include "sim/cost/software.h"
#include "sim/model/operator_graph.h"
#include "sim/platform/profile.h"

namespace slmsim {

// Of a product whose size on one GPU is `shape`: forward, then the gradients of the inputs and of the second factor.
// Weights lie as k x n, so that Y = X W is nn, dX = dY W^T is nt and dW = X^T dY is tn; keys and an embedding that is
// the head lie transposed, so that these are nt, nn and tn.
struct ProductKernels {
  KernelShape forward, inputs_gradient, factor_gradient;
};
ProductKernels product_kernels(const Operator& op, const MatrixShape& shape);

// Of the other operators, when a GPU does `part` sequences of it (less than one where its outputs are divided). An
// embedding has no kernel that is timed: its name is empty.
struct RowKernels {
  KernelShape forward, backward;
};
RowKernels row_kernels(const Operator& op, double part);

// Whether slmsim-calibrate times a stack's kernel of this kind, by the name that row_kernels gives its operator.
bool is_timed(KernelPart part);

KernelShape adam_kernel(double parameters);

// Every kernel of a model for each of these numbers of sequences, each once, with the names of the operators that use
// it ("qkv", "mlp up"), and Adam over some sizes up to the model's. Undivided operators.
struct UsedKernel {
  KernelShape shape;
  std::vector<std::string> operators;
};
std::vector<UsedKernel> kernels_of(const OperatorGraph& operators, const std::vector<int>& sequences);

}  // namespace slmsim
