#include "sim/cost/profile_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace slmsim {
namespace {

constexpr std::size_t kSizes = 4, kTerms = kSizes + 1;  // batch, m, n, k; and the constant
using Logs = std::array<double, kSizes>;

constexpr double kFar = 1.3862943611198906;  // log 4: the sum over the sizes of |log|
// Keeps the slope at zero along sizes in which the points do not differ.
constexpr double kRidge = 1e-6;

bool is_product(const std::string& name) { return name.starts_with("gemm-"); }

Logs logs_of(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {std::log(static_cast<double>(batch)), std::log(static_cast<double>(m)), std::log(static_cast<double>(n)),
          std::log(static_cast<double>(k))};
}

// Solves the symmetric, positive definite system by elimination; gives the first unknown.
double first_unknown(std::array<std::array<double, kTerms + 1>, kTerms> rows) {
  for (std::size_t pivot = kTerms; pivot-- > 1;) {
    for (std::size_t row = 0; row < pivot; ++row) {
      const double factor = rows[row][pivot] / rows[pivot][pivot];
      for (std::size_t column = 0; column <= kTerms; ++column) rows[row][column] -= factor * rows[pivot][column];
    }
  }
  return rows[0][kTerms] / rows[0][0];
}

struct Sample {
  Logs logs;
  double ratio = 0;  // logarithm of time over ideal time
};

// The ratio at `target`, where the nearest sample is no farther than kFar.
std::optional<double> interpolate(const std::vector<Sample>& samples, const Logs& target) {
  std::array<std::array<double, kTerms + 1>, kTerms> system{};
  double nearest = std::numeric_limits<double>::infinity(), total = 0;
  for (const auto& sample : samples) {
    std::array<double, kTerms> terms{1};
    double sum = 0, square = 0;
    for (std::size_t i = 0; i < kSizes; ++i) {
      terms[i + 1] = sample.logs[i] - target[i];
      sum += std::abs(terms[i + 1]);
      square += terms[i + 1] * terms[i + 1];
    }
    nearest = std::min(nearest, sum);
    const double weight = 1 / (square * square + 1e-12);
    total += weight;
    for (std::size_t row = 0; row < kTerms; ++row) {
      for (std::size_t column = 0; column < kTerms; ++column)
        system[row][column] += weight * terms[row] * terms[column];
      system[row][kTerms] += weight * terms[row] * sample.ratio;
    }
  }
  if (nearest > kFar) return std::nullopt;
  for (std::size_t term = 1; term < kTerms; ++term) system[term][term] += kRidge * total;
  return first_unknown(system);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

KernelShape shape_of(const std::string& name, const KernelPoint& point) {
  return {name, point.batch, point.m, point.n, point.k};
}

std::vector<Sample> samples_of(const Gpu& gpu, Precision precision, const std::string& name,
                               const std::vector<KernelPoint>& points) {
  std::vector<Sample> samples;
  for (const auto& point : points) {
    const double ideal = ideal_time(gpu, precision, shape_of(name, point)).value;
    samples.push_back({logs_of(point.batch, point.m, point.n, point.k), std::log(point.time.value / ideal)});
  }
  return samples;
}

// The median of all kernels of the class in this precision, else in any; 0 where the profile has none.
double ratio_of_class(const Gpu& gpu, Precision precision, bool products) {
  std::vector<double> same, any;
  for (const auto& [key, points] : gpu.profile->kernels) {
    if (is_product(key.first) != products) continue;
    const auto& names = precision_names();
    const auto measured = static_cast<Precision>(std::find(names.begin(), names.end(), key.second) - names.begin());
    for (const auto& sample : samples_of(gpu, measured, key.first, points)) {
      any.push_back(sample.ratio);
      if (measured == precision) same.push_back(sample.ratio);
    }
  }
  return !same.empty() ? median_of(std::move(same)) : !any.empty() ? median_of(std::move(any)) : 0.0;
}

// tf32 is fp32 to kernels that are no products.
const std::string& name_of(Precision precision, const std::string& kernel) {
  const bool stored = precision == Precision::kTf32 && !is_product(kernel);
  return precision_names()[static_cast<std::size_t>(stored ? Precision::kFp32 : precision)];
}

// Bytes that a kernel moves per element of m x n, beside those in the training precision. As slmsim-calibrate's
// kernels do: the loss keeps its logarithms in fp32, dropout a mask of one byte, Adam fp32 state.
struct Traffic {
  double elements = 0, bytes = 0;
};
Traffic traffic_of(const std::string& name, bool copy) {
  static const std::map<std::string, Traffic> kTraffic = {
      {"softmax-forward", {2, 0}},   {"softmax-backward", {3, 0}}, {"norm-forward", {2, 0}},
      {"norm-backward", {5, 0}},     {"gelu-forward", {2, 0}},     {"gelu-backward", {3, 0}},
      {"swiglu-forward", {3, 0}},    {"swiglu-backward", {5, 0}},  {"residual-forward", {3, 1}},
      {"residual-backward", {2, 1}}, {"loss-forward", {1, 4}},     {"loss-backward", {1, 4}}};
  if (name == "adam") return {copy ? 2.0 : 1.0, 24};
  const auto at = kTraffic.find(name);
  return at == kTraffic.end() ? Traffic{2, 0} : at->second;
}

}  // namespace

FlopsPerSecond peak_of(const Gpu& gpu, Precision precision) {
  const FlopsPerSecond peak = gpu.peak[static_cast<std::size_t>(precision)];
  return peak.value > 0 ? peak : gpu.peak[static_cast<std::size_t>(Precision::kFp32)];
}

Seconds ideal_time(const Gpu& gpu, Precision precision, const KernelShape& kernel) {
  const Seconds launch = gpu.profile ? gpu.profile->launch : Seconds{0};
  const double size = element_bytes(precision);
  const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
  if (is_product(kernel.name)) {
    const double batch = static_cast<double>(kernel.batch);
    const Flops flops{2 * batch * product(kernel.m, kernel.n) * static_cast<double>(kernel.k)};
    const Bytes bytes{size * batch *
                      (product(kernel.m, kernel.k) + product(kernel.k, kernel.n) + product(kernel.m, kernel.n))};
    return std::max(flops / peak_of(gpu, precision), bytes / gpu.memory_bandwidth) + launch;
  }
  const Traffic traffic = traffic_of(kernel.name, size < 4);
  const Bytes bytes{product(kernel.m, kernel.n) * (traffic.elements * size + traffic.bytes)};
  return bytes / gpu.memory_bandwidth + launch;
}

ProfileTime profile_time(const Gpu& gpu, Precision precision, const KernelShape& kernel, Seconds roofline) {
  if (kernel.name.empty()) {
    const Seconds time = roofline * std::exp(ratio_of_class(gpu, precision, false));
    return {time, {.measured = {}, .interpolated = {}, .roofline = time}};
  }
  const Seconds ideal = ideal_time(gpu, precision, kernel);
  const auto* points = gpu.profile->find(kernel.name, name_of(precision, kernel.name));
  double ratio = 0;
  if (points) {
    for (const auto& point : *points) {
      if (shape_of(kernel.name, point) == kernel)
        return {point.time, {.measured = point.time, .interpolated = {}, .roofline = {}}};
    }
    const auto samples = samples_of(gpu, precision, kernel.name, *points);
    if (const auto found = interpolate(samples, logs_of(kernel.batch, kernel.m, kernel.n, kernel.k))) {
      const Seconds time = ideal * std::exp(*found);
      return {time, {.measured = {}, .interpolated = time, .roofline = {}}};
    }
    std::vector<double> ratios;
    for (const auto& sample : samples) ratios.push_back(sample.ratio);
    ratio = median_of(std::move(ratios));
  } else {
    ratio = ratio_of_class(gpu, precision, is_product(kernel.name));
  }
  const Seconds time = ideal * std::exp(ratio);
  return {time, {.measured = {}, .interpolated = {}, .roofline = time}};
}

}  // namespace slmsim
