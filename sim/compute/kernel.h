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
#include "sim/platform/gpu.h"

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

// Time of a matrix product by the roofline.
//
//   time = sqrt(compute^2 + memory^2) + launch
//   memory  = bytes of the three matrices / (share of the bandwidth)
//   compute = least over tiles and split-K of  rounds x 2 tm tn (k / splits + prologue) x reuse / (peak of a multiprocessor)
//
// A product is cut into tiles of tm x tn, which are dealt to the multiprocessors in waves (NVIDIA, Matrix
// Multiplication Background User's Guide, DU-09799-001). Each tile begins with a prologue in which its first operands
// arrive, small tiles reuse less of the data they load, and a library chooses the fastest tile, so small and narrow
// products are slower per FLOP. The root of the squares models partial overlap of compute and memory.

// FLOPs of a product relative to those that the GPU could do in its tiles' time: 1 for a large product, less for one
// that fills tiles or waves badly.
double tile_efficiency(const MatrixShape& shape, int multiprocessors);

// Alignment in bytes of all rows of a product's three matrices, 16 at most: the power of two that divides rows of n elements
// and rows of k elements. The two products of its backward pass have the same alignment, since they use the same tensors.
int row_alignment(const MatrixShape& shape, Precision precision);

// Rate of a large product whose rows are aligned to `alignment` bytes; `aligned` is its rate at 16 bytes.
//
// Hopper: kernels whose loads are narrower than 16 bytes are those of earlier architectures (cutlass_75 and cutlass_80
// in place of warp-group products), and reach a fixed share of the peak. Measured on one H200, three layouts of 4096 x
// 4096 x 4096 and of GPT-2's head (tests/reference/h200/alignment.csv): 16-bit numbers at 2 bytes 80 to 149 TFLOP/s, at
// 4 and 8 bytes 195 to 274, TF32 at 4 and 8 bytes 112 to 133. Products on CUDA cores (fp32) do not differ.
//
// Earlier architectures, 16-bit numbers: rows at multiples of 4 bytes are enough, the minimum of a thread's
// asynchronous copy (PTX ISA, cp.async). DeepBench's products with 5124 = 4 x 1281 columns or inner sums of 1530 = 2 x
// 765 run at the same speed as others on V100 and T4; odd ones take kUnalignedCost times as long, as measured on heads
// with GPT-2's 50257 tokens on A100 (18.7 to 35.6 ms, against 9.2 to 17.5 by FLOPs; at 25128 they agree).
FlopsPerSecond unaligned_rate(FlopsPerSecond aligned, const Gpu& gpu, Precision precision, int alignment);
inline constexpr double kUnalignedCost = 2;
inline constexpr double kHopperAt2Bytes = 0.12, kHopperAt4Bytes = 0.26, kHopperTf32 = 0.25;  // of the peak

}  // namespace slmsim
