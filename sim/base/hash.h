// 64-bit FNV-1a (Fowler, Noll and Vo; draft-eastlake-fnv), for identification; it is not a cryptographic hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slmsim {

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325, kFnvPrime = 0x100000001b3;

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kFnvBasis) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

// Key of a cached result, 16 hexadecimal digits: hash of the program's version and of the texts in order.
std::string identity_of(std::string_view version, const std::vector<std::string>& texts);

}  // namespace slmsim
