// Hashes, and random numbers that are equal on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slmsim {

// 64-bit FNV-1a (Fowler, Noll and Vo; draft-eastlake-fnv), for identification; it is not a cryptographic hash.
inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325, kFnvPrime = 0x100000001b3;

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kFnvBasis) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

// Key of a cached result, 16 hexadecimal digits: hash of the program's version and of the texts in order.
std::string identity_of(std::string_view version, const std::vector<std::string>& texts);

// Integer random numbers that are equal on every machine: SplitMix64 (Steele, Lea and Flood, Fast splittable
// pseudorandom number generators, OOPSLA 2014). Any seed is equally good, so numbered sequences need no jump.
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
