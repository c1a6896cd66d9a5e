#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "sim/compute/roofline.h"

namespace slmsim {
namespace {

constexpr double kFar = 1.3862943611198906;  // log 4: the sum over the sizes of |log|
constexpr double kOnPoint = 1e-12;           // keeps the weight of a point at distance zero finite
// Keeps the slope at zero for sizes that do not vary among the points.
constexpr double kRidge = 1e-6;

using Terms = Eigen::Matrix<double, 5, 1>;  // the constant, and a slope for each size
using System = Eigen::Matrix<double, 5, 5>;

// The ratio at `target`, if the nearest sample is within kFar.
std::optional<double> interpolate(const std::vector<KernelSample>& samples, const KernelSizes& target) {
  RatioFit fit(target);
  for (const auto& sample : samples) fit.add(sample);
  return fit.ratio();
}

// Among products with the same row alignment; else among all.
std::optional<double> interpolate(const Gpu& gpu, Precision precision, const KernelShape& kernel,
                                  const std::vector<KernelSample>& samples) {
  const KernelSizes target = sizes_of(kernel);
  if (!is_product(kernel.name)) return interpolate(samples, target);
  const double own = alignment_cost(gpu, precision, kernel);
  RatioFit alike(target), all(target);
  for (const auto& sample : samples) {
    const KernelPoint& point = sample.point;
    const double cost = alignment_cost(gpu, precision, {kernel.name, point.batch, point.m, point.n, point.k});
    if (cost == own) alike.add(sample);
    KernelSample corrected = sample;
    corrected.ratio += std::log(own / cost);
    all.add(corrected);
  }
  const auto ratio = alike.ratio();
  return ratio ? ratio : all.ratio();
}

auto key_of(const auto& kernel) { return std::tie(kernel.batch, kernel.m, kernel.n, kernel.k); }

// Kernels other than products treat tf32 as fp32.
Precision stored(Precision precision, const std::string& kernel) {
  return precision == Precision::kTf32 && !is_product(kernel) ? Precision::kFp32 : precision;
}

ProfileTime by_roofline(Seconds time) { return {time, {.measured = {}, .interpolated = {}, .roofline = time}}; }

ProfileTime at_measured_clock(const Gpu& gpu, Precision asked, const KernelShape& kernel) {
  const KernelTable& table = *gpu.kernels;
  const Precision precision = stored(asked, kernel.name);
  const Seconds ideal = ideal_time(gpu, precision, kernel, table.launch());
  if (const auto* samples = table.find(kernel.name, precision)) {
    const auto known = std::lower_bound(samples->begin(), samples->end(), kernel,
                                        [](const auto& a, const auto& b) { return key_of(a.point) < key_of(b); });
    if (known != samples->end() && key_of(known->point) == key_of(kernel))
      return {known->point.time, {.measured = known->point.time, .interpolated = {}, .roofline = {}}};
    if (const auto ratio = interpolate(gpu, precision, kernel, *samples)) {
      const Seconds time = ideal * std::exp(*ratio);
      return {time, {.measured = {}, .interpolated = time, .roofline = {}}};
    }
  }
  const double cost = alignment_cost(gpu, precision, kernel);
  return by_roofline(ideal * (cost * std::exp(table.usual_ratio(kernel.name, precision))));
}

}  // namespace

double alignment_cost(const Gpu& gpu, Precision precision, const KernelShape& kernel) {
  if (!is_product(kernel.name)) return 1;
  // The stored rows are those of the second factor and the result, and of the first: k x m where it is transposed.
  const MatrixShape shape{1, 1, kernel.n, kernel.name == "gemm-tn" ? kernel.m : kernel.k};
  const double share = efficiency_of(gpu, precision).share * gpu.sustained;
  const FlopsPerSecond full = peak_of(gpu, precision) * (share > 0 ? share : 1.0);
  return full / unaligned_rate(full, gpu, precision, row_alignment(shape, precision));
}

void RatioFit::add(const KernelSample& sample) {
  Eigen::Map<System> squares(squares_.data());
  Eigen::Map<Terms> products(products_.data());
  Terms terms;
  terms << 1,
      Eigen::Map<const Eigen::Vector4d>(sample.sizes.data()) - Eigen::Map<const Eigen::Vector4d>(target_.data());
  nearest_ = std::min(nearest_, terms.tail<4>().lpNorm<1>());
  const double square = terms.tail<4>().squaredNorm();
  const double weight = 1 / (square * square + kOnPoint);
  squares.noalias() += weight * terms * terms.transpose();
  products += weight * sample.ratio * terms;
}

std::optional<double> RatioFit::ratio() const {
  if (nearest_ > kFar) return std::nullopt;
  System squares = Eigen::Map<const System>(squares_.data());
  squares.diagonal().tail<4>().array() += kRidge * squares(0, 0);  // the sum of the weights
  return squares.ldlt().solve(Eigen::Map<const Terms>(products_.data()))(0);
}

bool was_timed(const Gpu& gpu, Precision precision, const std::string& kernel) {
  return gpu.kernels && gpu.kernels->find(kernel, stored(precision, kernel)) != nullptr;
}

ProfileTime profile_time(const Gpu& gpu, Precision asked, const KernelShape& kernel) {
  const ProfileTime measured = at_measured_clock(gpu, asked, kernel);
  const PowerShares& left = gpu.left_of_measured;
  const double share = is_product(kernel.name) || is_flash(kernel.name) ? left.cores : left.memory;
  return {measured.time * (1 / share), measured.basis * (1 / share)};
}

}  // namespace slmsim
