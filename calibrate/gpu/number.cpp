#include "calibrate/gpu/number.h"

#include <cmath>
#include <limits>

namespace slmsim::calibrate {
namespace {

// Share of the sum of absolute values: sums split over multiprocessors may be rounded to the stored type once more.
constexpr double kSplitSum = 0.25;
constexpr double kHalfSpacing = 0x1p-24;  // spacing of fp16 below its smallest normal number

}  // namespace

Number number_of(const std::string& precision) {
  return precision == "fp16" ? Number::kHalf : precision == "bf16" ? Number::kBfloat : Number::kFloat;
}

std::size_t size_of(Number number) { return number == Number::kFloat ? 4 : 2; }

double rounding_of(Number number) {
  return number == Number::kHalf ? 0x1p-11 : number == Number::kBfloat ? 0x1p-8 : 0x1p-24;
}

double rounding_of_factors(const std::string& precision) { return precision == "tf32" ? 0x1p-11 : 0; }

double deviation(double got, double exact, double magnitude, Number number) {
  if (!std::isfinite(got)) return std::numeric_limits<double>::infinity();
  const double rounding = rounding_of(number), spacing = number == Number::kHalf ? kHalfSpacing : 1e-30;
  return std::abs(got - exact) /
         (2 * rounding * std::abs(exact) + (kSplitSum * rounding + kSumError) * magnitude + spacing);
}

}  // namespace slmsim::calibrate
