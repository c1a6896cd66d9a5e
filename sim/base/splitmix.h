// Integer random numbers that are equal on every machine: SplitMix64 (Steele, Lea and Flood, Fast splittable
// pseudorandom number generators, OOPSLA 2014). Any seed is equally good, so numbered sequences need no jump.
#pragma once

#include <cstdint>

namespace slmsim {

class SplitMix64 {
 public:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

  explicit SplitMix64(std::uint64_t state) : state_(state) {}

  // 64 bits.
  std::uint64_t next() { return mixed(state_ += kStep); }
  // The upper 53 bits, which a double holds exactly.
  std::uint64_t next53() { return next() >> 11U; }

  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace slmsim
