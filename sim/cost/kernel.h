// The kernels of which an operator consists, by the names and sizes under which slmsim-calibrate times them and a GPU's
// profile holds them.
//
//   gemm-nn, -nt, -tn   `batch` products of (m x k) by (k x n), row-major; t: the factor lies transposed in memory
//   and, each -forward and -backward, m rows of n elements: softmax, fused_softmax (scaled, causal), mask (scaling and
//   masking), dropout, norm, rmsnorm, bias, rotary, gelu, swiglu, residual, addition, embedding (of a table of k rows), loss
//   flash               causal attention of `batch` heads: m queries, n keys, heads of k
//   adam, adam_foreach, adam_single   m parameters
#pragma once

#include <string>
#include <vector>

#include "sim/cost/software.h"
#include "sim/model/operator.h"
#include "sim/platform/profile.h"

namespace slmsim {

// Of a product whose size on one GPU is `shape`: forward, then the gradients of the inputs and of the second factor.
// Weights lie as k x n, so that Y = X W is nn, dX = dY W^T is nt and dW = X^T dY is tn; keys and an embedding that is
// the head lie transposed, so that these are nt, nn and tn.
struct ProductKernels {
  KernelShape forward, inputs_gradient, factor_gradient;
};
ProductKernels product_kernels(const Operator& op, const MatrixShape& shape);

// Of a stack's kernel between products (parts_of), when a GPU does `part` sequences of the operator (less than one where its
// outputs are divided): the names under which it may have been timed, its own first.
struct RowKernels {
  KernelShape forward, backward;
};
std::vector<RowKernels> part_kernels(const Operator& op, const PartUse& use, double part);

// Stacks make of these anything from no kernel, or a part of another one, to several, so that the one that is timed need
// not be theirs: embedding, bias, rotary, mask, dropout.
bool differs_by_stack(KernelPart part);

// Attention of this size, as scores' or values' product on one GPU tells it.
RowKernels flash_kernels(const Operator& op, const MatrixShape& shape);

KernelShape adam_kernel(double parameters);

// Every kernel of a model for each of these numbers of sequences, each once, with the names of the operators that use
// it ("qkv", "mlp up"), and Adam over some sizes up to the model's. Undivided operators.
struct UsedKernel {
  KernelShape shape;
  std::vector<std::string> operators;
};
std::vector<UsedKernel> kernels_of(const OperatorGraph& operators, const std::vector<int>& sequences);

}  // namespace slmsim
