// Physical quantities as distinct types: a time cannot be added to a size, and a size divided by a rate is a
// time.
//
// A Quantity carries the exponents of second, byte and floating-point operation; `*` and `/` combine them,
// and a result without a dimension is a plain double. The number is kept in base units: s, B, FLOP, B/s,
// FLOP/s.
#pragma once

#include <compare>

namespace slmsim {

template <int Time, int Data, int Work>
struct Quantity {
  double value = 0.0;

  // clang-tidy 14 mistakes the 0 of a defaulted comparison for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
};

template <int T, int D, int W>
constexpr auto quantity_or_number(double value) {
  if constexpr (T == 0 && D == 0 && W == 0) {
    return value;
  } else {
    return Quantity<T, D, W>{value};
  }
}

template <int T1, int D1, int W1, int T2, int D2, int W2>
constexpr auto operator*(Quantity<T1, D1, W1> a, Quantity<T2, D2, W2> b) {
  return quantity_or_number<T1 + T2, D1 + D2, W1 + W2>(a.value * b.value);
}

template <int T1, int D1, int W1, int T2, int D2, int W2>
constexpr auto operator/(Quantity<T1, D1, W1> a, Quantity<T2, D2, W2> b) {
  return quantity_or_number<T1 - T2, D1 - D2, W1 - W2>(a.value / b.value);
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;

// Electrical power, and energy in joules; the three dimensions above do not cover them.
struct Watts {
  double value = 0.0;
  constexpr bool operator==(const Watts&) const = default;
};
struct Joules {
  double value = 0.0;
  constexpr bool operator==(const Joules&) const = default;
};
constexpr Joules operator*(Watts power, Seconds time) { return {power.value * time.value}; }

inline constexpr double kKibi = 1024.0;
inline constexpr double kMebi = 1024.0 * kKibi;
inline constexpr double kGibi = 1024.0 * kMebi;
inline constexpr double kGiga = 1e9;
inline constexpr double kTera = 1e12;

}  // namespace slmsim
