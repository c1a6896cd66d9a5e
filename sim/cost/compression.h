// Gradients that replicas tell each other in fewer bytes: what goes on the wire, what kernels it takes, what is kept.
//
//   bf16, fp16    as numbers of 16 bits, which are added up as they are (fp16_compress_hook and bf16_compress_hook of
//                 torch.distributed.algorithms.ddp_comm_hooks.default_hooks)
//   fp8, int8, int4  with a scale for each block (exchange_format.h), summed by shares (nccl/share_sum.h)
//   powersgd      each matrix M of n x m as P Q^T of rank r (Vogels et al., arXiv 1905.13727, algorithm 1), as
//                 powerSGD_hook does it: vectors, and matrices of which (n + m) r is not less than half, go as they are
//   topk          the share `density` of numbers that are largest, and where they are; the rest is added to the next
//                 step's gradients (Aji and Heafield, arXiv 1704.05021, section 3; Lin et al., arXiv 1712.01887)
//   onebit        signs and a scale (1-bit Adam: Tang et al., arXiv 2102.02888, algorithm 1), of momenta and not gradients
//
// Kernels are bound by memory: each takes its bytes at the share of the bandwidth that the software reaches, and a launch.
// `element` is always the bytes of a gradient.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cost/exchange_format.h"
#include "sim/model/gradient_tensor.h"

namespace slmsim {

enum class Compressor { kNone, kBf16, kFp16, kFp8, kInt8, kInt4, kPowerSgd, kTopK, kOneBit };
// Those of gradients, as scenarios write them: all but the last.
const std::vector<std::string>& compressor_names();

struct Compression {
  Compressor by = Compressor::kNone;
  int rank = 1;        // of powersgd
  double density = 0;  // of topk

  bool is_any() const { return by != Compressor::kNone; }
  bool operator==(const Compression&) const = default;
};

// Where numbers are exchanged in a format of their own.
std::optional<ExchangeFormat> format_of(const Compression& compression);

// Gradients that are exchanged together, cut into those of matrices that are worth it and the rest.
struct LowRank {
  double rows = 0, columns = 0, rank = 0;
};
struct LowRankBucket {
  std::vector<LowRank> matrices;
  double plain = 0;  // elements that go as they are

  void add(const GradientTensors& tensors, int rank);
  double elements() const;  // of all gradients in it
  double p() const;         // of all P
  double q() const;
};

// What a GPU does in turn: adds the error and copies, orthogonalises Q and computes P = M Q; when P is summed orthogonalises
// it and computes Q = M^T P; when Q is summed computes P Q^T and the error. Orthogonalising is Gram-Schmidt column by column,
// in two kernels, and four more for the columns behind it; above rank 2 PyTorch calls a QR factorisation of fp32 matrices,
// which is taken to take as long.
struct LowRankTimes {
  Seconds before, between, after;
};
LowRankTimes low_rank_times(const LowRankBucket& bucket, Precision gradients, const Gpu& gpu, const Software& software);

// Of topk: numbers that each rank sends of so many, and their bytes with where they are (32 bits).
double kept_numbers(double numbers, double density);
inline constexpr double kIndexBytes = 4;
// Before: the error is added, the largest are found (a radix select of 8 bits at a time reads all numbers once for each
// byte, and once more: aten/src/ATen/native/cuda/TensorTopK.cu) and taken out. After: zeros, and what `ranks` ranks sent is
// added where it belongs, each a sector of 32 bytes that is read and written.
struct TopKTimes {
  Seconds before, after;
};
TopKTimes top_k_times(double numbers, double density, int ranks, double element, const Gpu& gpu,
                      const Software& software);

// Of 1-bit momenta in fp32, as NcclBackend.compressed_allreduce has it (deepspeed/runtime/comm/nccl.py): unfused kernels that
// add the error, take the norm, the new error and the signs, and pack these; of the rank's share unpack and add up those of
// all ranks, and do the same; unpack all. `momentum` comes before.
struct SignTimes {
  Seconds momentum, encode, sum, decode;
};
SignTimes sign_times(double numbers, int ranks, double element, const Gpu& gpu, const Software& software);
Bytes sign_bytes(double numbers);  // of all signs; a rank's scale is kScaleBytes
inline constexpr double kScaleBytes = 4;

// Memory of a GPU, of all gradients that it has: `kept` from step to step; `passing` from their encoding until they are
// decoded, which on a slow network is until after the backward pass for all of them.
struct CompressionMemory {
  Bytes kept, passing;
};
CompressionMemory compression_memory(const Compression& compression, const LowRankBucket& all, int ranks,
                                     double element);

}  // namespace slmsim
