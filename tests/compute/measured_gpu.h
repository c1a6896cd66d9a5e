// A made-up GPU and kernel times that a GPU could have: nothing here was measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "sim/compute/roofline.h"

namespace slmsim::made_up {

// 100 TFLOP/s fp16 and 1000 GB/s on 64 multiprocessors.
inline Gpu gpu() {
  Gpu gpu;
  gpu.name = "made-up";
  gpu.architecture = "Ampere";
  gpu.multiprocessors = 64;
  gpu.memory_bandwidth = {1e12};
  gpu.peak[static_cast<std::size_t>(Precision::kFp16)] = {100e12};
  gpu.peak[static_cast<std::size_t>(Precision::kFp32)] = {10e12};
  return gpu;
}

// A GPU of this kind with these fp16 times of one kernel.
inline Gpu with(GpuProfile profile) {
  Gpu out = gpu();
  out.kernels = std::make_shared<const KernelTable>(out, profile);
  return out;
}

inline void add(GpuProfile& profile, const KernelShape& shape, Seconds time, Precision precision = Precision::kFp16) {
  auto& points = profile.kernels[shape.name][static_cast<std::size_t>(precision)];
  points.push_back({shape.batch, shape.m, shape.n, shape.k, time});
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::tie(a.batch, a.m, a.n, a.k) < std::tie(b.batch, b.m, b.n, b.k);
  });
}

// How a GPU's times differ from the data sheet: tiles of 128 x 128 in waves over the multiprocessors with a last one
// that is not full, inner sums that need 500 elements to reach half their rate, a launch of 4 us, bytes at 85 % of the
// bandwidth, and up to 3 % more or less that no rule tells.
inline Seconds plausible_time(const KernelShape& s) {
  const double batch = static_cast<double>(s.batch), m = static_cast<double>(s.m), n = static_cast<double>(s.n),
               k = static_cast<double>(s.k);
  double work = 0, elements = m * n * 3;
  if (is_product(s.name)) {
    const double tiles = batch * std::ceil(m / 128) * std::ceil(n / 128);
    const double per_tile = 2 * 128 * 128 * (k + 500) / (100e12 / 64 * 0.9);
    work = std::ceil(tiles / 64) * per_tile;
    elements = batch * (m * k + k * n + m * n);
  }
  std::uint64_t hash = std::hash<std::string>{}(s.name);
  for (const std::int64_t size : {s.batch, s.m, s.n, s.k})
    hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15U ^ (hash >> 29);
  const double spread = 0.97 + 0.06 * static_cast<double>(hash >> 40) / 0x1p24;
  return {(std::max(work, elements * 2 / 0.85e12) + 4e-6) * spread};
}

// The kernels of a shapes CSV.
inline std::vector<KernelShape> shapes_in(const std::string& file) {
  std::vector<KernelShape> shapes;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    KernelShape shape;
    words >> shape.name >> shape.batch >> shape.m >> shape.n >> shape.k;
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace slmsim::made_up
