#include "calibrate/cuda/product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace slmsim::calibrate {
namespace {

constexpr int kChecked = 8;  // elements of the result

std::size_t bytes_of(std::int64_t batch, std::int64_t elements, Number number) {
  return static_cast<std::size_t>(batch) * static_cast<std::size_t>(elements) * size_of(number);
}

Layout layout_of(const Kernel& kernel) {
  if (std::max({kernel.m, kernel.n, kernel.k, kernel.batch}) > std::numeric_limits<int>::max())
    throw MeasurementSkip("a side is longer than cuBLAS supports");
  const bool first = kernel.name == "gemm-tn", second = kernel.name == "gemm-nt";
  return {first, second, first ? kernel.m : kernel.k, second ? kernel.k : kernel.n, kernel.n};
}

}  // namespace

Product::Product(const Device& device, const Kernel& kernel)
    : device_(device),
      kernel_(kernel),
      number_(number_of(kernel.precision)),
      layout_(layout_of(kernel)),
      first_(kernel.m * kernel.k),
      second_(kernel.k * kernel.n),
      result_(kernel.m * kernel.n),
      arrays_(device, {bytes_of(kernel.batch, first_, number_), bytes_of(kernel.batch, second_, number_),
                       bytes_of(kernel.batch, result_, number_)}) {
  for (int set = 0; set < sets(); ++set) {
    const auto seed = static_cast<unsigned>(2 * set);
    fill_random(device, arrays_.at<std::byte>(set, 0), number_, static_cast<std::size_t>(kernel.batch * first_), -1, 1,
                seed);
    fill_random(device, arrays_.at<std::byte>(set, 1), number_, static_cast<std::size_t>(kernel.batch * second_), -1, 1,
                seed + 1);
  }
  device.wait();
}

double Product::error() {
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::size_t>(std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random));
  };
  const double factors = rounding_of_factors(kernel_.precision);
  const auto count = static_cast<std::size_t>(kernel_.k);
  double worst = 0;
  for (int i = 0; i < kChecked; ++i) {
    // The last one, then random ones.
    const bool last = i == 0;
    const auto one_of = [&](std::int64_t limit) { return last ? static_cast<std::size_t>(limit - 1) : below(limit); };
    const std::size_t product = one_of(kernel_.batch), row = one_of(kernel_.m), column = one_of(kernel_.n);
    const auto lda = static_cast<std::size_t>(layout_.lda), ldb = static_cast<std::size_t>(layout_.ldb);
    const std::size_t a = product * static_cast<std::size_t>(first_), b = product * static_cast<std::size_t>(second_);
    const auto left = layout_.first_transposed
                          ? gather(device_, arrays_.at<std::byte>(0, 0), number_, a + row, lda, count)
                          : gather(device_, arrays_.at<std::byte>(0, 0), number_, a + row * lda, 1, count);
    const auto right = layout_.second_transposed
                           ? gather(device_, arrays_.at<std::byte>(0, 1), number_, b + column * ldb, 1, count)
                           : gather(device_, arrays_.at<std::byte>(0, 1), number_, b + column, ldb, count);
    double exact = 0, magnitude = 0;
    for (std::size_t k = 0; k < count; ++k) {
      exact += left[k] * right[k];
      magnitude += std::abs(left[k] * right[k]);
    }
    const std::size_t at =
        product * static_cast<std::size_t>(result_) + row * static_cast<std::size_t>(layout_.ldc) + column;
    const double got = gather(device_, arrays_.at<std::byte>(0, 2), number_, at, 1, 1).front();
    // Subtracts the error that rounding of the factors explains.
    const double explained = 2 * factors * magnitude;
    const double off = std::max(0.0, std::abs(got - exact) - explained);
    worst = std::max(worst, std::isfinite(got) ? deviation(exact + off, exact, magnitude, number_)
                                               : deviation(got, exact, magnitude, number_));
  }
  return worst;
}

}  // namespace slmsim::calibrate
