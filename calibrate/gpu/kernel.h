// Kernels as they are timed: name, precision and sizes. `slmsim shapes` lists them without precision, and the simulator looks
// measured times up by the same names. (C++17, because CUDA 11.8 compiles it.)
//
//   gemm-nn, -nt, -tn    `batch` products of (m x k) by (k x n), row-major; t: the factor is transposed in memory
//   and, each -forward and -backward, m rows of n elements:
//   softmax, fused_softmax (scaled and causal), mask (scaling and masking), dropout    of attention's scores
//   norm (layer norm), rmsnorm, bias, rotary, gelu (with its bias), swiglu
//   residual (bias, dropout, addition), addition (without dropout)
//   embedding            of a table of k rows
//   loss                 cross entropy; n: the vocabulary
//   flash                attention of `batch` heads: m queries, n keys, heads of k; slmsim-calibrate cannot time it
//   adam, adam_foreach, adam_single    m parameters
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slmsim::calibrate {

struct Kernel {
  std::string name;
  std::string precision;  // fp16, bf16, tf32, fp32; empty in a list of shapes
  std::int64_t batch = 1, m = 1, n = 1, k = 1;

  bool operator<(const Kernel& other) const;
  bool operator==(const Kernel& other) const;
  std::string family() const;  // "gemm", "softmax", ...
  bool is_backward() const;

  double elements() const;  // of the result: batch m n
  double flops() const;     // 2 batch m n k for a product, 0 otherwise
};

const std::vector<std::string>& kernel_names();
const std::vector<std::string>& precision_names();

// "gemm-nn fp16 1x1024x3072x1024"
std::string to_text(const Kernel& kernel);

// Reads CSV files as `slmsim shapes` writes them: kernel,batch,m,n,k,operators. Each kernel once. Throws UsageError with
// "FILE:LINE: " and the error.
std::vector<Kernel> read_kernels(const std::vector<std::string>& files);

// Every kernel in every precision, the most used first: precisions in the given order, in each the small kernels before the
// large ones, so that a time limit costs the least. tf32 applies to products only.
std::vector<Kernel> in_precisions(const std::vector<Kernel>& kernels, const std::vector<std::string>& precisions);

}  // namespace slmsim::calibrate
