#include "sim/platform/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slmsim {
namespace {

// Bytes that a kernel moves per element of m x n: elements in training precision, and further bytes. The loss keeps its
// logarithms in fp32, dropout a mask of one byte, Adam fp32 state and, with it, weights in training precision.
struct Traffic {
  double elements = 2, bytes = 0;
};
Traffic traffic_of(const std::string& name, bool copy) {
  static const std::map<std::string, Traffic> kTraffic = {
      {"softmax-forward", {2, 0}},        {"softmax-backward", {3, 0}},
      {"norm-forward", {2, 0}},           {"norm-backward", {5, 0}},
      {"gelu-forward", {2, 0}},           {"gelu-backward", {3, 0}},
      {"swiglu-forward", {3, 0}},         {"swiglu-backward", {5, 0}},
      {"residual-forward", {3, 1}},       {"residual-backward", {2, 1}},
      {"loss-forward", {1, 4}},           {"loss-backward", {1, 4}},
      {"rmsnorm-backward", {5, 0}},       {"fused_softmax-forward", {1.5, 0}},
      {"fused_softmax-backward", {2, 0}}, {"mask-forward", {4, 0}},
      {"mask-backward", {4, 0}},          {"dropout-forward", {2, 1}},
      {"dropout-backward", {2, 1}},       {"bias-backward", {1, 0}},
      {"addition-forward", {3, 0}},       {"addition-backward", {1, 0}},
      {"embedding-forward", {3, 0}},      {"embedding-backward", {5, 0}}};
  if (name == "adam") return {copy ? 2.0 : 1.0, 24};
  // Seven steps that read and write fp32 arrays seventeen times, and the gradient twice; plus a copy.
  if (name.starts_with("adam_")) return {copy ? 3.0 : 2.0, copy ? 68.0 : 64.0};
  const auto at = kTraffic.find(name);
  return at == kTraffic.end() ? Traffic{} : at->second;
}

// Forward and backward of the causal half of two products.
Flops flash_flops(const std::string& name, double product) {
  return Flops{(name == "flash-backward" ? 2.5 : 1.0) * product};
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

KernelSizes sizes_of(const KernelShape& kernel) {
  return {std::log(static_cast<double>(kernel.batch)), std::log(static_cast<double>(kernel.m)),
          std::log(static_cast<double>(kernel.n)), std::log(static_cast<double>(kernel.k))};
}

Seconds ideal_time(const Gpu& gpu, Precision precision, const KernelShape& kernel, Seconds launch) {
  const double size = element_bytes(precision);
  const double batch = static_cast<double>(kernel.batch), m = static_cast<double>(kernel.m),
               n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
  if (is_product(kernel.name)) {
    const Flops flops{2 * batch * m * n * k};
    const Bytes bytes{size * batch * (m * k + k * n + m * n)};
    return std::max(flops / peak_of(gpu, precision), bytes / gpu.memory_bandwidth) + launch;
  }
  if (is_flash(kernel.name)) {
    const Bytes bytes{size * batch * 2 * (m * k + n * k)};
    return std::max(flash_flops(kernel.name, 2 * batch * m * n * k) / peak_of(gpu, precision),
                    bytes / gpu.memory_bandwidth) +
           launch;
  }
  // The gradient of an embedding's table is cleared first.
  const double cleared = kernel.name == "embedding-backward" ? k * n * size : 0;
  return Bytes{m * n * kernel_bytes(kernel.name, precision) + cleared} / gpu.memory_bandwidth + launch;
}

double kernel_bytes(const std::string& kernel, Precision precision) {
  const double size = element_bytes(precision);
  const Traffic traffic = traffic_of(kernel, size < element_bytes(Precision::kFp32));
  return traffic.elements * size + traffic.bytes;
}

KernelTable::KernelTable(const Gpu& gpu, const GpuProfile& profile) : launch_(profile.launch) {
  std::array<std::array<std::vector<double>, kPrecisions>, 2> ratios;
  std::array<std::vector<double>, 2> any;
  for (const auto& [name, by_precision] : profile.kernels) {
    const std::size_t kind = is_product(name) ? 1 : 0;
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      Series& series = kernels_[name][p];
      std::vector<double> own;
      for (const auto& point : by_precision[p]) {
        const KernelShape shape{name, point.batch, point.m, point.n, point.k};
        const Seconds ideal = ideal_time(gpu, static_cast<Precision>(p), shape, launch_);
        own.push_back(std::log(point.time / ideal));
        series.samples.push_back({point, sizes_of(shape), own.back()});
      }
      ratios[kind][p].insert(ratios[kind][p].end(), own.begin(), own.end());
      any[kind].insert(any[kind].end(), own.begin(), own.end());
      series.ratio = median_of(std::move(own));
    }
  }
  for (std::size_t kind = 0; kind < 2; ++kind) {
    known_[kind] = !any[kind].empty();
    for (std::size_t p = 0; p < kPrecisions; ++p)
      class_ratios_[kind][p] = median_of(ratios[kind][p].empty() ? any[kind] : std::move(ratios[kind][p]));
  }
}

const std::vector<KernelSample>* KernelTable::find(const std::string& kernel, Precision precision) const {
  const auto at = kernels_.find(kernel);
  if (at == kernels_.end()) return nullptr;
  const auto& samples = at->second[static_cast<std::size_t>(precision)].samples;
  return samples.empty() ? nullptr : &samples;
}

double KernelTable::usual_ratio(const std::string& kernel, Precision precision) const {
  const auto p = static_cast<std::size_t>(precision);
  if (find(kernel, precision)) return kernels_.find(kernel)->second[p].ratio;
  return class_ratios_[is_product(kernel) ? 1 : 0][p];
}

bool Profiles::attach(const std::string& name, Gpu& gpu) {
  const auto profile = profiles_.find(name);
  if (profile == profiles_.end()) return false;
  gpu.measured_on = profile->second.gpu;
  gpu.buses = profile->second.buses;
  gpu.measured_limit = profile->second.power_limit;
  gpu.host = profile->second.host.value_or(gpu.host);
  if (profile->second.kernels.empty() && profile->second.launch <= Seconds{0}) return true;
  auto& table = tables_[{name, gpu.memory_bandwidth, gpu.peak}];
  if (!table) table = std::make_shared<const KernelTable>(gpu, profile->second);
  gpu.kernels = table;
  return true;
}

}  // namespace slmsim
