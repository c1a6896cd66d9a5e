// Numbers as GPUs store them, on the host: for checks against a reference in double precision.
#pragma once

#include <cstdint>
#include <string>

namespace slmsim::calibrate {

enum class Number { kHalf, kBfloat, kFloat };

// fp16, bf16; tf32 and fp32 are both stored as float.
Number number_of(const std::string& precision);
std::size_t size_of(Number number);
// Half the distance from 1 to the next number: the relative error of rounding.
double rounding_of(Number number);
// For products: tf32 keeps 10 bits of each factor's mantissa.
double rounding_of_factors(const std::string& precision);

// Error of fp32 sums, relative to the sum of absolute values: up to about 100 000 terms in any order, and approximate
// functions.
inline constexpr double kSumError = 1e-5;

// Distance of `got` from `exact`, relative to the error of a correct result: rounding twice to `number`, and, for sums,
// a share of `magnitude`, the sum of the absolute values. Above 1 is wrong; NaN gives infinity.
double deviation(double got, double exact, double magnitude, Number number);

}  // namespace slmsim::calibrate
