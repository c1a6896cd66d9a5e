// The kernels of each operator, by the names and sizes under which slmsim-calibrate times them and a GPU's profile
// stores them.
//
//   gemm-nn, -nt, -tn   `batch` products of (m x k) by (k x n), row-major; t: the factor lies transposed in memory
//   and, each -forward and -backward, m rows of n elements: softmax, fused_softmax (scaled, causal), mask (scaling and
//   masking), dropout, norm, rmsnorm, bias, rotary, gelu, swiglu, residual, addition, embedding (of a table of k rows), loss
//   flash               causal attention of `batch` heads: m queries, n keys, heads of k
//   adam, adam_foreach, adam_single   m parameters
#pragma once

#include <string>
#include <vector>

#include "sim/compute/operator.h"
#include "sim/compute/software.h"
#include "sim/platform/profile.h"

namespace slmsim {

// Kernels of a product with this `shape` on one GPU: forward, then the gradients of the inputs and of the second
// factor. Weights are stored as k x n, so Y = X W is nn, dX = dY W^T is nt and dW = X^T dY is tn; keys and an embedding
// used as the head are stored transposed, so theirs are nt, nn and tn.
struct ProductKernels {
  KernelShape forward, inputs_gradient, factor_gradient;
};
ProductKernels product_kernels(const Operator& op, const MatrixShape& shape);

// Kernels of a stack between products (parts_of), for `part` sequences of the operator on one GPU (less than one where
// its outputs are divided): the names under which they may have been timed, the kernel's own first.
struct RowKernels {
  KernelShape forward, backward;
};
std::vector<RowKernels> part_kernels(const Operator& op, const PartUse& use, double part);

// Whether stacks implement this part differently: by no kernel, a part of another one, or several. The timed kernel may
// then differ from the stack's: embedding, bias, rotary, mask, dropout.
bool differs_by_stack(KernelPart part);

// Flash attention of the size that a scores or values product has on one GPU.
RowKernels flash_kernels(const Operator& op, const MatrixShape& shape);

KernelShape adam_kernel(double parameters);

// Every kernel of a model for each of these numbers of sequences, once each, with the names of the operators that use
// it ("qkv", "mlp up"), and Adam over sizes up to the model's. Operators are undivided.
struct UsedKernel {
  KernelShape shape;
  std::vector<std::string> operators;
};
std::vector<UsedKernel> kernels_of(const OperatorGraph& operators, const std::vector<int>& sequences);

}  // namespace slmsim
