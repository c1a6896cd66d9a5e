// Shared parts of the workloads other than matrix products.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/cuda/check.h"
#include "calibrate/cuda/convert.cuh"
#include "calibrate/cuda/launch.cuh"
#include "calibrate/cuda/workload.h"

namespace slmsim::calibrate {

// The workload class for the kernel's stored number type.
template <template <class> class Family>
std::unique_ptr<Workload> make_of(const Device& device, const Kernel& kernel) {
  switch (number_of(kernel.precision)) {
    case Number::kHalf:
      return std::make_unique<Family<__half>>(device, kernel);
    case Number::kBfloat:
      return std::make_unique<Family<__nv_bfloat16>>(device, kernel);
    case Number::kFloat:
      break;
  }
  return std::make_unique<Family<float>>(device, kernel);
}

// GPT-2 drops a tenth; a mixed word below kThreshold keeps its element.
inline constexpr float kKept = 0.9f;
inline constexpr unsigned kThreshold = 0xe6666666U;  // of 2^32: kKept
// A byte of dropout's mask: whether the element is kept.
__device__ inline unsigned char kept_byte(std::size_t i, unsigned seed) {
  return mixed(static_cast<unsigned>(i) + mixed(seed)) < kThreshold ? 1 : 0;
}
__device__ inline float dropped(float x, unsigned char kept) { return kept ? x / kKept : 0; }

// m rows of n elements in several arrays.
class Rows : public Workload {
 public:
  // `bytes` of each array of a set.
  Rows(const Device& device, const Kernel& kernel, const std::vector<std::size_t>& bytes)
      : device_(device),
        number_(number_of(kernel.precision)),
        rows_(static_cast<std::size_t>(kernel.m)),
        columns_(static_cast<int>(kernel.n)),
        backward_(kernel.is_backward()),
        arrays_(device, bytes) {
    if (kernel.m > std::numeric_limits<int>::max() || kernel.n > std::numeric_limits<int>::max())
      throw MeasurementSkip("more rows or columns than a launch counts");
  }
  int sets() const override { return arrays_.sets(); }

 protected:
  std::size_t count() const { return rows_ * static_cast<std::size_t>(columns_); }
  unsigned blocks() const { return static_cast<unsigned>(rows_); }  // one per row

  // Whether every row begins at a multiple of the widest pack, so that no pack spans two rows.
  template <class T>
  bool wide() const {
    return columns_ % kWidest<T> == 0;
  }
  template <class T>
  T* at(int set, std::size_t array) const {
    return arrays_.at<T>(set, array);
  }
  // A thread per pack of `width` elements.
  template <class... Parameters, class... Arguments>
  void over_packs(int width, void (*kernel)(Parameters...), Arguments... arguments) const {
    const std::size_t packs = count() / static_cast<std::size_t>(width);
    start_kernel(kernel, static_cast<unsigned>((packs + kBlock - 1) / kBlock), kBlock, device_.stream(), arguments...,
                 packs);
  }

  // Random numbers into an array of every set, of the kernel's number type and of its full size.
  void randomise(std::size_t array, float low, float high) {
    for (int set = 0; set < sets(); ++set)
      fill_random(device_, arrays_.at<std::byte>(set, array), number_, count(), low, high, seed(set, array));
  }
  static unsigned seed(int set, std::size_t array) {
    return 64 * static_cast<unsigned>(set) + static_cast<unsigned>(array);
  }
  // One row of set 0's array.
  std::vector<double> row(std::size_t array, std::size_t which) const { return row(array, which, number_); }
  std::vector<double> row(std::size_t array, std::size_t which, Number number) const {
    const auto n = static_cast<std::size_t>(columns_);
    return gather(device_, arrays_.at<std::byte>(0, array), number, which * n, 1, n);
  }

  // One row of a mask of set 0.
  std::vector<unsigned char> mask_row(std::size_t array, std::size_t which) const {
    std::vector<unsigned char> mask(static_cast<std::size_t>(columns_));
    check(cudaMemcpy(mask.data(), arrays_.at<unsigned char>(0, array) + which * mask.size(), mask.size(),
                     cudaMemcpyDeviceToHost),
          "reading a mask");
    return mask;
  }
  // A mask whose share of kept elements in a long row is far from nine tenths is wrong.
  static bool is_odd(const std::vector<unsigned char>& mask) {
    constexpr double kFar = 0.1;
    constexpr std::size_t kEnough = 256;
    const double kept = static_cast<double>(std::count(mask.begin(), mask.end(), 1));
    return mask.size() >= kEnough &&
           std::abs(kept / static_cast<double>(mask.size()) - static_cast<double>(kKept)) > kFar;
  }
  // Fills a mask in every set as the forward pass would, for a backward pass.
  void make_masks(std::size_t array);

  // The largest error of some rows, evenly spaced from the first to the last: of all rows where they are few and short.
  template <class Error>
  double worst_row(Error error) const {
    constexpr std::size_t kElements = 8192;
    const std::size_t many = std::min(rows_, std::max<std::size_t>(3, kElements / static_cast<std::size_t>(columns_)));
    double worst = error(rows_ - 1);
    for (std::size_t i = 0; i + 1 < many; ++i) worst = std::max(worst, error(i * (rows_ - 1) / (many - 1)));
    return worst;
  }

  const Device& device_;
  const Number number_;
  const std::size_t rows_;
  const int columns_;
  const bool backward_;
  const Arrays arrays_;
};

// dx = dy where the mask kept, scaled as forward; for a residual, its branch's gradient.
template <class T, int Width>
__global__ void dropout_backward(const Pack<T, Width>* dy, Pack<T, Width>* dx, const Pack<unsigned char, Width>* mask,
                                 std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = dy[i];
  const Pack<unsigned char, Width> kept = mask[i];
  for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(dropped(load(pack.value[w]), kept.value[w]));
  dx[i] = pack;
}

template <class T>
__global__ void kept_bytes(T* mask, unsigned seed, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i < count) mask[i] = kept_byte(i, seed);
}

inline void Rows::make_masks(std::size_t array) {
  for (int set = 0; set < sets(); ++set)
    over_packs(1, kept_bytes<unsigned char>, at<unsigned char>(set, array), seed(set, array));
}

}  // namespace slmsim::calibrate
