// What the workloads that are no matrix products have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/cuda/check.h"
#include "calibrate/cuda/convert.cuh"
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
      throw LeftOut("more rows or columns than a launch counts");
  }
  int sets() const override { return arrays_.sets(); }

 protected:
  std::size_t count() const { return rows_ * static_cast<std::size_t>(columns_); }
  unsigned blocks() const { return static_cast<unsigned>(rows_); }  // one per row

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

  // The largest of some rows' errors.
  template <class Error>
  double worst_row(Error error) const {
    double worst = 0;
    for (const std::size_t at : {std::size_t{0}, rows_ / 2, rows_ - 1}) worst = std::max(worst, error(at));
    return worst;
  }

  const Device& device_;
  const Number number_;
  const std::size_t rows_;
  const int columns_;
  const bool backward_;
  const Arrays arrays_;
};

}  // namespace slmsim::calibrate
