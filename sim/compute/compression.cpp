#include "sim/compute/compression.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

// In the order of ExchangeFormat.
constexpr double kBits[] = {32, 16, 16, 8, 8, 4};
double bits_of(ExchangeFormat format) { return kBits[static_cast<std::size_t>(format)]; }

constexpr double kFp32Bytes = 4;

// powerSGD_hook compresses a matrix whose factors are smaller by at least this factor (min_compression_rate).
constexpr double kLeastRate = 2;
constexpr double kSector = 32;      // bytes of GPU memory moved by an access to a single number
constexpr double kMomentBytes = 4;  // fp32
constexpr double kSignBits = 1, kBitsOfByte = 8;

// Bytes per fp32 number that DeepSpeed's consecutive kernels move. An elementwise kernel in place reads 4 and writes 4;
// with two tensors it moves 12; to bytes or booleans it reads 4 and writes 1.
constexpr int kMomentumKernels = 2, kEncodeKernels = 15, kUnpackKernels = 6, kDecodeKernels = 7;
// mul_ of the momentum; its addition also reads the gradient.
constexpr double kMomentum = 8 + 8;
// add_ error 12, norm 4; error: sign 8, add_ 8, bool 5, float 5, add_ 8, mul_ 8, mul 8, subtraction 12; signs: sign_ 8, add_
// 8, bool 5, packing 1 and an eighth.
constexpr double kEncode = 12 + 4 + 62 + 21 + 1 + kSignBits / kBitsOfByte;
// Unpacking an eighth and 1, float 5, add_ 8, mul_ 8, scale 8; then the use of the result: the sum reads 4, the copy
// moves 8.
constexpr double kUnpack = kSignBits / kBitsOfByte + 1 + 5 + 8 + 8 + 8;
constexpr double kSummed = 4, kCopied = 8;

class Kernels {
 public:
  Kernels(const Gpu& gpu, const Software& software) : gpu_(gpu), software_(software) {}

  void move(double bytes) { time_ += elementwise_time(Bytes{bytes}, gpu_, software_); }
  void move(double bytes, int launches) {
    move(bytes);
    time_ += software_.launch * (launches - 1.0);
  }
  void multiply(double bytes, double flops, FlopsPerSecond rate) {
    time_ += std::max(elementwise_time(Bytes{bytes}, gpu_, software_), Flops{flops} / rate + software_.launch);
  }
  Seconds time() const { return time_; }

 private:
  const Gpu& gpu_;
  const Software& software_;
  Seconds time_;
};

// Gram-Schmidt on n x rank: each column's norm (reads n) and division (2 n); for the c columns after it, their products
// with it (reads n (c + 1), writes n c), the sums of these (reads n c), these times the column (reads n, writes n c)
// and a subtraction (reads 2 n c, writes n c).
void orthogonalise(Kernels& kernels, double n, double rank, double element) {
  for (double behind = rank - 1; behind >= 0; --behind) {
    kernels.move(n * element);
    kernels.move(2 * n * element);
    if (behind == 0) continue;
    kernels.move(n * (2 * behind + 1) * element);
    kernels.move(n * behind * element);
    kernels.move(n * (behind + 1) * element);
    kernels.move(3 * n * behind * element);
  }
}

}  // namespace

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

const std::vector<std::string>& compressor_names() {
  static const std::vector<std::string> kNames = {"none", "bf16", "fp16", "fp8", "int8", "int4", "powersgd", "topk"};
  return kNames;
}

std::optional<ExchangeFormat> format_of(const Compression& compression) {
  static const std::map<Compressor, ExchangeFormat> kFormats = {{Compressor::kBf16, ExchangeFormat::kBf16},
                                                                {Compressor::kFp16, ExchangeFormat::kFp16},
                                                                {Compressor::kFp8, ExchangeFormat::kFp8},
                                                                {Compressor::kInt8, ExchangeFormat::kInt8},
                                                                {Compressor::kInt4, ExchangeFormat::kInt4}};
  const auto at = kFormats.find(compression.by);
  return at == kFormats.end() ? std::nullopt : std::optional(at->second);
}

void LowRankBucket::add(const GradientTensors& tensors, int rank) {
  plain += tensors.vectors;
  for (const GradientMatrix& m : tensors.matrices) {
    const double own = std::min({m.rows, m.columns, static_cast<double>(rank)});
    if ((m.rows + m.columns) * own * kLeastRate < m.elements())
      matrices.push_back({m.rows, m.columns, own});
    else
      plain += m.elements();
  }
}

double LowRankBucket::elements() const {
  double sum = plain;
  for (const LowRank& m : matrices) sum += m.rows * m.columns;
  return sum;
}

double LowRankBucket::p() const {
  double sum = 0;
  for (const LowRank& m : matrices) sum += m.rows * m.rank;
  return sum;
}

double LowRankBucket::q() const {
  double sum = 0;
  for (const LowRank& m : matrices) sum += m.columns * m.rank;
  return sum;
}

LowRankTimes low_rank_times(const LowRankBucket& bucket, Precision gradients, const Gpu& gpu,
                            const Software& software) {
  const double element = element_bytes(gradients), all = bucket.elements() * element, plain = bucket.plain * element;
  const FlopsPerSecond rate = software.product_rate(gpu, gradients);
  Kernels before(gpu, software), between(gpu, software), after(gpu, software);
  before.move(3 * all);
  before.move(2 * all);
  if (plain > 0) {
    before.move(2 * plain);
    between.move(2 * plain);
  }
  // Each product reads or writes the matrix and both factors.
  const auto product = [&](Kernels& kernels, const LowRank& m) {
    const double factors = (m.rows + m.columns) * m.rank;
    kernels.multiply((m.rows * m.columns + factors) * element, 2 * m.rows * m.columns * m.rank, rate);
  };
  for (const LowRank& m : bucket.matrices) {
    orthogonalise(before, m.columns, m.rank, element);
    product(before, m);
    orthogonalise(between, m.rows, m.rank, element);
    product(between, m);
    product(after, m);
  }
  if (!bucket.matrices.empty()) after.move(2 * bucket.q() * element);  // division to the mean
  after.move(3 * all);
  return {before.time(), between.time(), after.time()};
}

double kept_numbers(double numbers, double density) { return std::ceil(numbers * density); }

TopKTimes top_k_times(double numbers, double density, int ranks, double element, const Gpu& gpu,
                      const Software& software) {
  const double all = numbers * element, kept = kept_numbers(numbers, density), one = kept * (element + kIndexBytes);
  Kernels before(gpu, software), after(gpu, software);
  before.move(3 * all);                                   // error and gradients
  before.move(2 * all);                                   // their absolute values
  before.move(element * all, static_cast<int>(element));  // reads one byte of each after the other
  before.move(all + one);
  before.move(one + kept * kSector);  // reads the values at their places, and writes zeros there
  before.move(kIndexBytes * kept + kept * 2 * kSector);
  after.move(all);
  after.move(ranks * (one + kept * 2 * kSector));
  return {before.time(), after.time()};
}

SignTimes sign_times(double numbers, int ranks, double element, const Gpu& gpu, const Software& software) {
  const double share = numbers / ranks;
  Kernels momentum(gpu, software), encode(gpu, software), sum(gpu, software), decode(gpu, software);
  momentum.move(numbers * (kMomentum + element), kMomentumKernels);
  encode.move(numbers * kEncode, kEncodeKernels);
  sum.move(numbers * (kUnpack + kSummed) + share * kMomentBytes, kUnpackKernels);
  sum.move(share * kEncode, kEncodeKernels);
  decode.move(numbers * (kUnpack + kCopied), kDecodeKernels);
  return {momentum.time(), encode.time(), sum.time(), decode.time()};
}

Bytes sign_bytes(double numbers) { return Bytes{numbers * kSignBits / kBitsOfByte}; }

CompressionMemory compression_memory(const Compression& compression, const LowRankBucket& all, int ranks,
                                     double element) {
  const double numbers = all.elements();
  if (const auto format = format_of(compression)) {
    // A sum by shares keeps received data beside the data to send.
    const double copies = adds_up(*format) ? 1 : 2;
    return {{}, wire_bytes(*format, numbers) * copies};
  }
  switch (compression.by) {
    case Compressor::kPowerSgd:
      // The error, P and Q of the last step; a copy of the gradients.
      return {Bytes{(numbers + all.p() + all.q()) * element}, Bytes{numbers * element}};
    case Compressor::kTopK: {
      const double kept = kept_numbers(numbers, compression.density);
      return {Bytes{numbers * element}, Bytes{(ranks + 1.0) * kept * (element + kIndexBytes)}};
    }
    case Compressor::kOneBit:
      // Errors of the rank and of its share, in fp32; signs sent and received, and the decoded numbers.
      return {Bytes{numbers * kMomentBytes * (1 + 1.0 / ranks)},
              sign_bytes(numbers) * 2.0 + Bytes{numbers * kMomentBytes}};
    default:
      return {};
  }
}

const std::vector<std::string>& exchange_format_names() {
  static const std::vector<std::string> kNames = {"fp32", "bf16", "fp16", "fp8", "int8", "int4"};
  return kNames;
}

bool adds_up(ExchangeFormat format) { return bits_of(format) >= 16; }

Bytes wire_bytes(ExchangeFormat format, double numbers) {
  return Bytes{numbers * (bits_of(format) / 8 + (adds_up(format) ? 0.0 : kFp32Bytes / kScaleBlock))};
}

Seconds elementwise_time(Bytes moved, const Gpu& gpu, const Software& software) {
  return moved / (gpu.bandwidth() * software.memory) + software.launch;
}

Seconds encode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software, double element) {
  if (format == ExchangeFormat::kFp32) return {};
  return elementwise_time(Bytes{numbers * element} + wire_bytes(format, numbers), gpu, software);
}

Seconds decode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software, double element) {
  return encode_time(format, numbers, gpu, software, element);
}

Seconds sum_time(ExchangeFormat format, double numbers, int ranks, const Gpu& gpu, const Software& software) {
  const double share = numbers / ranks;
  return elementwise_time(wire_bytes(format, share) * (ranks + 1.0), gpu, software);
}

}  // namespace slmsim
