#include "sim/compute/roofline.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

Seconds at_rate(double flops, FlopsPerSecond rate, double bytes, const Gpu& gpu, const Software& software) {
  return std::max(Flops{flops} / rate, Bytes{bytes} / (gpu.bandwidth() * software.memory)) + software.launch;
}

struct ProductParts {
  Seconds compute, memory, launch;

  Seconds kernel() const { return Seconds{std::hypot(compute.value, memory.value)}; }
  Seconds time() const { return kernel() + launch; }
  // The share of its time that is bound by multiprocessors.
  double bound() const {
    const Seconds whole = kernel();
    return whole > Seconds{0} ? (compute / whole) * (compute / whole) * (whole / time()) : 0.0;
  }
};

ProductParts product_parts(const MatrixShape& shape, const Gpu& gpu, Precision precision, const Software& software,
                           int alignment) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double elements = static_cast<double>(shape.batch) * (m * k + k * n + m * n);
  const FlopsPerSecond large = unaligned_rate(software.product_rate(gpu, precision), gpu, precision, alignment);
  const FlopsPerSecond rate = large * tile_efficiency(shape, gpu.multiprocessors);
  return {Flops{shape.flops()} / rate, Bytes{elements * element_bytes(precision)} / (gpu.bandwidth() * software.memory),
          software.launch};
}

constexpr int kAligned = 16;  // bytes

int alignment_of(const MatrixShape& shape, Precision precision, const Software& software) {
  return software.pads ? kAligned : row_alignment(shape, precision);
}

// Pads rows to 16 bytes, as TorchInductor does.
MatrixShape padded(MatrixShape shape, Precision precision) {
  if (precision == Precision::kFp32) return shape;
  const std::int64_t elements = kAligned / static_cast<std::int64_t>(element_bytes(precision));
  for (auto* size : {&shape.n, &shape.k}) *size = (*size + elements - 1) / elements * elements;
  return shape;
}

// The shape of a GPU's share.
MatrixShape divided(MatrixShape shape, const Share& share, bool weights) {
  const auto part = [](std::int64_t size, int ways) { return std::max<std::int64_t>(1, (size + ways - 1) / ways); };
  auto& outputs = weights ? shape.n : shape.batch;  // attention is divided by heads
  outputs = part(outputs, share.columns);
  shape.k = part(shape.k, share.rows);
  return shape;
}

// A product with weights treats all tokens of all sequences as rows; attention has one product per sequence and head.
MatrixShape for_sequences(MatrixShape shape, double sequences, bool weights) {
  auto& grows = weights ? shape.m : shape.batch;
  grows = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(static_cast<double>(grows) * sequences)));
  return shape;
}

// By the profile where it knows the kernel's class; else by the data sheet and the software stack.
template <class Stated>
Seconds timed(const Gpu& gpu, Precision precision, const KernelShape& kernel, Stated stated, TimeBasis& basis) {
  const bool known = gpu.kernels && !kernel.name.empty() && gpu.kernels->knows_class_of(kernel.name);
  if (!known) {
    const Seconds time = stated();
    basis.roofline += time;
    return time;
  }
  const ProfileTime one = profile_time(gpu, precision, kernel);
  basis += one.basis;
  return one.time;
}

OperatorTime matrix_time(const Operator& op, const MatrixShape& forward, const Gpu& gpu, Precision precision,
                         const Software& software) {
  // Backward: gradient of the inputs (m x n by n x k) and of the second factor (k x m by m x n).
  const auto [batch, m, n, k] = forward;
  const ProductKernels kernels = product_kernels(op, software.pads ? padded(forward, precision) : forward);
  const int alignment = alignment_of(forward, precision, software);
  OperatorTime out;
  const auto time = [&](const KernelShape& kernel, const MatrixShape& shape, Seconds& bound) {
    const ProductParts parts = product_parts(shape, gpu, precision, software, alignment);
    const Seconds taken = timed(
        gpu, precision, kernel, [&] { return parts.time(); }, out.basis);
    bound += taken * parts.bound();
    return taken;
  };
  out.forward = time(kernels.forward, forward, out.bound.forward);
  Seconds of_factor{};
  const Seconds factor = op.frozen ? Seconds{} : time(kernels.factor_gradient, {batch, k, n, m}, of_factor);
  out.bound.backward = of_factor;
  out.backward = time(kernels.inputs_gradient, {batch, m, k, n}, out.bound.backward) + factor;
  if (op.has_weights()) {
    out.weights_gradient = factor;
    out.bound.weights_gradient = of_factor;
  }
  return out;
}

// A kernel that stacks implement differently uses slmsim-calibrate's time only if that kernel moves a similar number of
// bytes. Stacks state bytes at the full bandwidth, of which such kernels reach kReached.
constexpr double kReached = 0.85, kAlike = 1.5;
bool is_alike(const KernelShape& timed, const MemoryTraffic& stated, Precision precision) {
  if (stated.casts_of(precision) > 0) return false;  // slmsim-calibrate's kernels load several elements at once
  const double own = kernel_bytes(timed.name, precision), other = stated.bytes_of(precision) * kReached;
  return other <= own * kAlike && own <= other * kAlike;
}

// The first kernel that was timed; else the last, whose class may have a ratio. None where stacks differ: some parts
// differ always, and parts with casts differ in every stack.
KernelShape timed_kernel(const std::vector<RowKernels>& known, bool forward, bool differs, const MemoryTraffic& stated,
                         const Gpu& gpu, Precision precision) {
  for (const auto& one : known) {
    const KernelShape& kernel = forward ? one.forward : one.backward;
    const bool counts = !differs || is_alike(kernel, stated, precision);
    if (counts && was_timed(gpu, precision, kernel.name)) return kernel;
  }
  if (differs) return {};
  return forward ? known.back().forward : known.back().backward;
}

// Memory-efficient attention in fp32 runs on tensor cores from here on, as three products in TF32, whatever the framework allows
// products (PyTorch's gemm_kernel_utils.h: OpMultiplyAddFastF32).
constexpr int kTensorCoresInFp32 = 80;

// Scores and values by flash or memory-efficient attention, half of it each. It computes the attended scores, mostly those
// on and below the diagonal: two products forward; backward the scores again, and the gradients of both products. Profiles
// time flash attention with that diagonal.
OperatorTime flash_time(const Operator& op, const MatrixShape& shape, const Gpu& gpu, Precision precision,
                        const Software& software) {
  const bool old = software.attention_on(gpu, precision) == AttentionKernel::kMemoryEfficient;
  const bool thrice = old && !is_half(precision) && gpu.compute_capability >= kTensorCoresInFp32;
  const FlopsPerSecond rate = software.product_rate(gpu, thrice ? Precision::kTf32 : precision) *
                              (software.flash.left_on(gpu.architecture) / (thrice ? 3 : 1));
  const double attended = shape.flops() * op.attended;
  const auto sequence = static_cast<double>(shape.m);
  const double ahead = software.flash.forward.reached(sequence) * (old ? kMemoryEfficientForward : 1.0);
  const double back = software.flash.backward.reached(sequence) * (old ? kMemoryEfficientBackward : 1.0);
  const Seconds forward = Flops{attended} / (rate * ahead) + software.launch * 0.5;
  const Seconds backward = Flops{2.5 * attended} / (rate * back) + software.launch * 0.5;
  OperatorTime out;
  const RowKernels kernels = gpu.kernels && !old ? flash_kernels(op, shape) : RowKernels{};
  const auto half = [&](const KernelShape& kernel, Seconds stated) {
    if (!was_timed(gpu, precision, kernel.name)) {
      out.basis.roofline += stated;
      return stated;
    }
    const ProfileTime one = profile_time(gpu, precision, kernel);
    out.basis += one.basis * op.attended;
    return one.time * op.attended;
  };
  out.forward = half(kernels.forward, forward);
  out.backward = half(kernels.backward, backward);
  out.bound = {out.forward, out.backward, {}};
  return out;
}

// Casts of the GPU's part of the weights, once per pass, independent of the sequences; frozen weights have no gradient
// to cast back.
OperatorTime weight_cast_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                              const Software& software) {
  const double weights = op.weights / (share.columns * share.rows);
  OperatorTime out;
  out.forward = part_time(software.weight_cast.forward, weights, gpu, precision, software);
  if (!op.frozen) out.backward = part_time(software.weight_cast.backward, weights, gpu, precision, software);
  out.basis.roofline = out.forward + out.backward;
  return out;
}

// An operator's own inputs and outputs, moved once.
OperatorTime counted_time(const Operator& op, double part, const Gpu& gpu, Precision precision,
                          const Software& software) {
  const double size = element_bytes(precision);
  const double forward = (op.inputs + op.outputs) * part * size;
  // Backward reads the output's gradient and the kept tensors, and writes the inputs' gradient.
  const double kept = kept_bytes(op, precision, AttentionKernel::kUnfused, software);
  const double backward = ((op.inputs + op.outputs) * size + kept) * part;
  // On the CUDA cores, in fp32; the matrix products' share of the peak does not apply to these kernels.
  const FlopsPerSecond rate = peak_of(gpu, Precision::kFp32) * gpu.left.cores;
  return {at_rate(op.flops * part, rate, forward, gpu, software),
          at_rate(2 * op.flops * part, rate, backward, gpu, software),
          {},
          {}};
}

OperatorTime& operator+=(OperatorTime& sum, const OperatorTime& other) {
  sum.forward += other.forward;
  sum.backward += other.backward;
  sum.basis += other.basis;
  sum.weights_gradient += other.weights_gradient;
  return sum;
}

}  // namespace

Seconds product_time(const MatrixShape& shape, const Gpu& gpu, Precision precision, const Software& software) {
  return product_parts(shape, gpu, precision, software, alignment_of(shape, precision, software)).time();
}

Seconds part_time(const MemoryTraffic& moves, double elements, const Gpu& gpu, Precision precision,
                  const Software& software) {
  const double bytes = moves.bytes_of(precision);
  if (bytes <= 0 || elements <= 0) return {};
  const Seconds memory = Bytes{elements * bytes} / gpu.bandwidth();
  const Seconds cores{elements * moves.cycles / (gpu.multiprocessors * gpu.clock() * gpu.left.cores)};
  const Seconds cast{elements * kCastCycles / (gpu.multiprocessors * gpu.clock() * gpu.left.cores)};
  const Seconds beyond = std::max(Seconds{0}, cast - Bytes{elements * kCastBytes} / gpu.bandwidth());
  return std::max(memory, cores) + beyond * moves.casts_of(precision) + software.launch;
}

OperatorTime operator_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                           const Software& software) {
  if (share.sequences <= 0) return {};
  const AttentionKernel attention = software.attention_on(gpu, precision);
  const bool flash = keeps_no_scores(attention);
  const double part = share.sequences / share.columns;
  OperatorTime out;
  if (op.kind == OperatorKind::kMatrix) {
    const MatrixShape shape =
        for_sequences(divided(op.matrix, share, op.has_weights()), share.sequences, op.has_weights());
    out = flash && op.is_attention_core() ? flash_time(op, shape, gpu, precision, software)
                                          : matrix_time(op, shape, gpu, precision, software);
    if (op.has_weights()) out += weight_cast_time(op, share, gpu, precision, software);
  }
  for (const PartUse& use : parts_of(op, attention)) {
    const KernelPart kernel = stated_part(op, use.part, software);
    const auto& stated = software.kernels[static_cast<std::size_t>(kernel)];
    const bool product = op.kind == OperatorKind::kMatrix;
    OperatorTime time;
    if (stated) {
      time.forward = part_time(stated->forward, use.elements * part, gpu, precision, software);
      time.backward = part_time(stated->backward, use.elements * part, gpu, precision, software);
    } else if (!product && use.part != KernelPart::kAttention && use.part != KernelPart::kMask &&
               use.part != KernelPart::kDropout) {
      time = counted_time(op, part, gpu, precision, software);
    }
    RowKernels kernels;
    if (gpu.kernels && is_profiled(kernel) && kernel == use.part) {
      const auto known = part_kernels(op, use, part);
      const KernelTraffic moves = stated.value_or(KernelTraffic{});
      const bool differs = differs_by_stack(use.part) || software.autocast;
      kernels.forward = timed_kernel(known, true, differs, moves.forward, gpu, precision);
      kernels.backward = timed_kernel(known, false, differs, moves.backward, gpu, precision);
    }
    OperatorTime known;
    known.forward = timed(
        gpu, precision, kernels.forward, [&] { return time.forward; }, known.basis);
    // A frozen bias has no gradient.
    if (!op.frozen || use.part != KernelPart::kBias)
      known.backward = timed(
          gpu, precision, kernels.backward, [&] { return time.backward; }, known.basis);
    out += known;
  }
  const Bytes summed{share.summed * op.parameters / (share.columns * share.rows)};
  if (summed.value > 0) {
    const Seconds sum = summed / (gpu.memory_bandwidth * software.memory);
    out.backward += sum;
    out.basis.roofline += sum;
  }
  if (op.unreached) {
    out.basis = out.basis * (out.forward / (out.forward + out.backward));
    out.backward = out.weights_gradient = out.bound.backward = out.bound.weights_gradient = {};
  }
  return out;
}

TimeBasis& TimeBasis::operator+=(const TimeBasis& other) {
  measured += other.measured;
  interpolated += other.interpolated;
  roofline += other.roofline;
  return *this;
}

OperatorTime least_operator_time(const Operator& op, const Gpu& gpu, Precision precision, const Software& software) {
  const bool flash = keeps_no_scores(software.attention_on(gpu, precision));
  if (op.kind != OperatorKind::kMatrix) {
    if (gpu.kernels) return {};  // small ones may run in the cache
    Software ideal = software;
    ideal.launch = {};
    const OperatorTime whole = operator_time(op, {}, gpu, precision, ideal);
    return {whole.forward, whole.backward, {}, {}};
  }
  if (flash && op.is_attention_core() && !gpu.kernels) {
    const OperatorTime whole = flash_time(op, op.matrix, gpu, precision, software);
    return {whole.forward - software.launch * 0.5, whole.backward - software.launch * 0.5, {}, {}};
  }
  // A measured product may be faster than the efficiency of unmeasured ones.
  const FlopsPerSecond most = gpu.kernels ? peak_of(gpu, precision) * std::max(1.0, gpu.left_of_measured.cores)
                                          : software.product_rate(gpu, precision);
  const Seconds full = Flops{op.matrix.flops()} / most;
  if (flash && op.is_attention_core()) return {full * op.attended, full * (2.5 * op.attended), {}, {}};
  return {full, full * (op.unreached ? 0.0 : op.frozen ? 1.0 : 2.0), {}, {}};
}

}  // namespace slmsim
