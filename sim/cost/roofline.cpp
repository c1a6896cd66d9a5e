#include "sim/cost/roofline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/cost/profile_time.h"

namespace slmsim {
namespace {

constexpr double kTile = 128;  // cuBLAS' common tensor-core tile is 128 x 128 (DU-09799-001, section 3)

Seconds at_rate(double flops, FlopsPerSecond rate, double bytes, const Gpu& gpu, const Efficiency& efficiency) {
  return std::max(Flops{flops} / rate, Bytes{bytes} / (gpu.memory_bandwidth * efficiency.memory)) + efficiency.launch;
}

// What the share leaves of each dimension.
MatrixShape divided(MatrixShape shape, const Share& share, bool weights) {
  const auto part = [](std::int64_t size, int ways) { return std::max<std::int64_t>(1, (size + ways - 1) / ways); };
  auto& outputs = weights ? shape.n : shape.batch;  // attention is divided by heads
  outputs = part(outputs, share.columns);
  shape.k = part(shape.k, share.rows);
  return shape;
}

// A product with weights treats all tokens of all sequences as rows; attention has one product per sequence
// and head.
MatrixShape for_sequences(MatrixShape shape, double sequences, bool weights) {
  auto& grows = weights ? shape.m : shape.batch;
  grows = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(static_cast<double>(grows) * sequences)));
  return shape;
}

// By the profile. Of what it knows nothing, the efficiency that the software states holds, as on a GPU without one.
OperatorTime profiled(const Gpu& gpu, Precision precision, const std::vector<KernelShape>& forward,
                      const std::vector<KernelShape>& backward, const OperatorTime& roofline) {
  OperatorTime out;
  const auto add = [&](const std::vector<KernelShape>& kernels, Seconds whole, Seconds& time) {
    for (const auto& kernel : kernels) {
      const ProfileTime one = profile_time(gpu, precision, kernel, whole / static_cast<double>(kernels.size()));
      time += one.time;
      out.basis += one.basis;
    }
  };
  add(forward, roofline.forward, out.forward);
  add(backward, roofline.backward, out.backward);
  return out;
}

OperatorTime by_roofline(Seconds forward, Seconds backward) {
  return {forward, backward, {.measured = {}, .interpolated = {}, .roofline = forward + backward}};
}

OperatorTime matrix_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                         const Efficiency& efficiency) {
  const MatrixShape forward =
      for_sequences(divided(op.matrix, share, op.has_weights()), share.sequences, op.has_weights());
  if (gpu.kernels && gpu.kernels->knows_products()) {
    const ProductKernels kernels = product_kernels(op, forward);
    return profiled(gpu, precision, {kernels.forward}, {kernels.inputs_gradient, kernels.factor_gradient}, {});
  }
  const auto time = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const MatrixShape shape{forward.batch, m, n, k};
    const double elements = static_cast<double>(shape.batch) * (static_cast<double>(m) * static_cast<double>(k) +
                                                                static_cast<double>(k) * static_cast<double>(n) +
                                                                static_cast<double>(m) * static_cast<double>(n));
    const double reached = efficiency.matrix_of(gpu) * wave_efficiency(shape, gpu.multiprocessors);
    return at_rate(shape.flops(), peak_of(gpu, precision) * reached, elements * element_bytes(precision), gpu,
                   efficiency);
  };
  // Backward: gradient of the inputs (m x n by n x k) and of the second factor (k x m by m x n).
  const auto [batch, m, n, k] = forward;
  return by_roofline(time(m, n, k), time(m, k, n) + time(k, n, m));
}

}  // namespace

double wave_efficiency(const MatrixShape& shape, int multiprocessors) {
  const double tiles = static_cast<double>(shape.batch) * std::ceil(static_cast<double>(shape.m) / kTile) *
                       std::ceil(static_cast<double>(shape.n) / kTile);
  // Splitting the inner sum lets a product with few tiles use the other multiprocessors as well (split-K).
  const double splits =
      tiles < multiprocessors
          ? std::max(1.0, std::floor(std::min(multiprocessors / tiles, static_cast<double>(shape.k) / (8 * kTile))))
          : 1.0;
  const double jobs = tiles * splits;
  return jobs / (std::ceil(jobs / multiprocessors) * multiprocessors);
}

OperatorTime operator_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                           const Efficiency& efficiency) {
  if (share.sequences <= 0) return {};
  if (op.kind == OperatorKind::kMatrix) return matrix_time(op, share, gpu, precision, efficiency);
  const double part = share.sequences / share.columns;
  const double size = element_bytes(precision);
  const double forward = (op.inputs + op.outputs) * part * size;
  // Backward reads the output's gradient and what was kept, and writes the inputs' gradient.
  const double backward = ((op.inputs + op.outputs + op.saved_elements) * size + op.saved_bytes) * part;
  // On the CUDA cores, in fp32; the matrix products' share of the peak says nothing about these kernels.
  const FlopsPerSecond rate = peak_of(gpu, Precision::kFp32);
  if (gpu.kernels && gpu.kernels->knows_others()) {
    const RowKernels kernels = row_kernels(op, part);
    const Efficiency ideal{.matrix = {}, .memory = 1, .launch = gpu.kernels->launch()};
    return profiled(gpu, precision, {kernels.forward}, {kernels.backward},
                    by_roofline(at_rate(op.flops * part, rate, forward, gpu, ideal),
                                at_rate(2 * op.flops * part, rate, backward, gpu, ideal)));
  }
  return by_roofline(at_rate(op.flops * part, rate, forward, gpu, efficiency),
                     at_rate(2 * op.flops * part, rate, backward, gpu, efficiency));
}

TimeBasis& TimeBasis::operator+=(const TimeBasis& other) {
  measured += other.measured;
  interpolated += other.interpolated;
  roofline += other.roofline;
  return *this;
}

OperatorTime least_operator_time(const Operator& op, const Gpu& gpu, Precision precision,
                                 const Efficiency& efficiency) {
  if (op.kind != OperatorKind::kMatrix) {
    if (gpu.kernels) return {};  // small ones may run in the cache
    const OperatorTime whole = operator_time(op, {}, gpu, precision, efficiency);
    return {whole.forward - efficiency.launch, whole.backward - efficiency.launch, {}};
  }
  // What was measured may be better than the efficiency of those that were not.
  const FlopsPerSecond most = peak_of(gpu, precision) * (gpu.kernels ? 1.0 : efficiency.matrix_of(gpu));
  const Seconds full = Flops{op.matrix.flops()} / most;
  return {full, full * 2.0, {}};
}

Seconds adam_time(double parameters, const Gpu& gpu, Precision precision, Precision gradient_precision,
                  const Efficiency& efficiency, TimeBasis* basis) {
  const bool master = element_bytes(precision) < 4;
  const double read = element_bytes(gradient_precision) + 4 + 8;
  const double written = 4 + 8 + (master ? element_bytes(precision) : 0);
  if (gpu.kernels && gpu.kernels->knows_others() && parameters > 0) {
    // Measured with gradients in training precision; others are longer or shorter.
    const double measured = element_bytes(precision) + 4 + 8 + written;
    const ProfileTime kernel = profile_time(gpu, precision, adam_kernel(parameters));
    if (basis) *basis += kernel.basis;
    return kernel.time * ((read + written) / measured);
  }
  const Seconds time =
      Bytes{parameters * (read + written)} / (gpu.memory_bandwidth * efficiency.memory) + efficiency.launch;
  if (basis) basis->roofline += time;
  return time;
}

}  // namespace slmsim
