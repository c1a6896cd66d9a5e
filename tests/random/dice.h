// Numbers drawn from a seed; the same on every machine, which the library's distributions are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace slmsim {

class CaseDice {
 public:
  explicit CaseDice(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(std::int64_t n) { return number(1, n) == 1; }
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double log_between(double low, double high) { return low * std::pow(high / low, share()); }
  // Whole, and small ones as often as large ones of ten times the size.
  std::int64_t log_number(std::int64_t least, std::int64_t most) {
    const double shift = static_cast<double>(1 - least);
    const double drawn = log_between(1, static_cast<double>(most) + shift + 1) - shift;
    return std::min(most, std::max(least, static_cast<std::int64_t>(std::floor(drawn))));
  }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  std::string of(std::initializer_list<const char*> values) {
    return *(values.begin() + number(0, static_cast<std::int64_t>(values.size()) - 1));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace slmsim
