// Compressed exchange of gradients between replicas: bytes on the wire, kernels and memory.
//
//   bf16, fp16    as numbers of 16 bits, which are added directly (fp16_compress_hook and bf16_compress_hook of
//                 torch.distributed.algorithms.ddp_comm_hooks.default_hooks)
//   fp8, int8, int4  with a scale for each block (above), summed by shares (sim/collective/peers.h)
//   powersgd      each matrix M of n x m as P Q^T of rank r (Vogels et al., arXiv 1905.13727, algorithm 1), as
//                 powerSGD_hook does; vectors, and matrices with (n + m) r at least half of n m, are not compressed
//   topk          the largest numbers, a share `density` of all, with their indices; the rest is added to the next
//                 step's gradients (Aji and Heafield, arXiv 1704.05021, section 3; Lin et al., arXiv 1712.01887)
//   onebit        signs and a scale (1-bit Adam: Tang et al., arXiv 2102.02888, algorithm 1), of momenta, not gradients
//
// Kernels are bound by memory: each takes its bytes at the software's share of the bandwidth, plus a launch. `element`
// is always the bytes of a gradient.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/compute/operator.h"
#include "sim/compute/software.h"

namespace slmsim {

// Number formats for the exchange of gradients or parameter differences between replicas, and the costs of encoding and
// decoding.
//
// A number of b bits is b / 8 bytes on the wire. Formats of 8 and 4 bits scale each block of kScaleBlock numbers by one
// number in fp32 of its own (block-wise quantization: Dettmers et al., arXiv 2110.02861, section 2.1, has 2048 a block):
//
//   bytes on the wire = numbers x (b / 8 + 4 / kScaleBlock)
//
// Encoding kernels read fp32 and write the wire format; decoding kernels do the reverse. Both are bound by memory: they
// take their bytes at the software's share of the bandwidth (`memory_efficiency`), plus a launch.

enum class ExchangeFormat { kFp32, kBf16, kFp16, kFp8, kInt8, kInt4 };
const std::vector<std::string>& exchange_format_names();  // as scenarios write them

inline constexpr double kScaleBlock = 2048;

// Whether numbers of this format can be added directly, as NCCL's reductions do. Formats with a scale cannot: each sum
// decodes and encodes them.
bool adds_up(ExchangeFormat format);

// Bytes on the wire for `numbers` numbers.
Bytes wire_bytes(ExchangeFormat format, double numbers);

// Time of a kernel that moves `moved` bytes of the GPU's memory, with negligible computation.
Seconds elementwise_time(Bytes moved, const Gpu& gpu, const Software& software);

// From numbers of `element` bytes (default: fp32), and back to them; 0 where the format is fp32.
Seconds encode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software,
                    double element = 4);
Seconds decode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software,
                    double element = 4);
// A rank's share of a sum of `numbers` numbers over `ranks` ranks: it reads its share from each and writes their sum.
Seconds sum_time(ExchangeFormat format, double numbers, int ranks, const Gpu& gpu, const Software& software);

// The tensors that hold an operator's parameters in a framework, to which gradient compression applies: matrices of
// products and tables, and vectors of biases and norms. A product of several parts, such as queries, keys and values,
// is one matrix, as in GPT-2.
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

enum class Compressor { kNone, kBf16, kFp16, kFp8, kInt8, kInt4, kPowerSgd, kTopK, kOneBit };
// Compressors of gradients, as scenarios write them: all but the last.
const std::vector<std::string>& compressor_names();

struct Compression {
  Compressor by = Compressor::kNone;
  int rank = 1;        // of powersgd
  double density = 0;  // of topk

  bool is_any() const { return by != Compressor::kNone; }
  bool operator==(const Compression&) const = default;
};

// Format of the exchanged numbers, where the compressor has one.
std::optional<ExchangeFormat> format_of(const Compression& compression);

// Gradients exchanged together, divided into the matrices worth compressing and the rest.
struct LowRank {
  double rows = 0, columns = 0, rank = 0;
};
struct LowRankBucket {
  std::vector<LowRank> matrices;
  double plain = 0;  // elements sent uncompressed

  void add(const GradientTensors& tensors, int rank);
  double elements() const;  // number in all its gradients
  double p() const;         // of all P
  double q() const;
};

// Steps on a GPU: before P is summed, add the error, copy, orthogonalise Q and compute P = M Q; before Q is summed,
// orthogonalise P and compute Q = M^T P; after that, compute P Q^T and the error. Orthogonalising is Gram-Schmidt
// column by column, in two kernels, and four more for the columns after it; above rank 2 PyTorch calls a QR
// factorisation of fp32 matrices, which is assumed to take equally long.
struct LowRankTimes {
  Seconds before, between, after;
};
LowRankTimes low_rank_times(const LowRankBucket& bucket, Precision gradients, const Gpu& gpu, const Software& software);

// topk: the number of values that each rank sends out of `numbers`, and the bytes of each value's index (32 bits).
double kept_numbers(double numbers, double density);
inline constexpr double kIndexBytes = 4;
// Before: the error is added, the largest values are found (a radix select of 8 bits at a time reads all numbers once
// for each byte, and once more: aten/src/ATen/native/cuda/TensorTopK.cu) and extracted. After: the result is zeroed,
// and the values of `ranks` ranks are added at their places, each a sector of 32 bytes that is read and written.
struct TopKTimes {
  Seconds before, after;
};
TopKTimes top_k_times(double numbers, double density, int ranks, double element, const Gpu& gpu,
                      const Software& software);

// 1-bit momenta in fp32, as in NcclBackend.compressed_allreduce (deepspeed/runtime/comm/nccl.py). Unfused kernels add
// the error, take the norm, the new error and the signs, and pack these; unpack and add up all ranks' signs of the
// rank's share and compress the sum likewise; and unpack all. `momentum` comes first.
struct SignTimes {
  Seconds momentum, encode, sum, decode;
};
SignTimes sign_times(double numbers, int ranks, double element, const Gpu& gpu, const Software& software);
Bytes sign_bytes(double numbers);  // size of all signs; each rank also sends a scale of kScaleBytes
inline constexpr double kScaleBytes = 4;

// GPU memory for all gradients of a GPU: `kept` from step to step; `passing` from encoding to decoding, which on a slow
// network is, for all of them, after the backward pass.
struct CompressionMemory {
  Bytes kept, passing;
};
CompressionMemory compression_memory(const Compression& compression, const LowRankBucket& all, int ranks,
                                     double element);

}  // namespace slmsim
