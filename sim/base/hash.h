// FNV-1a of 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): tells one text from another, guards nothing.
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

// 16 hexadecimal digits: what a result that is kept for later was made from, which is a version of the program and texts in
// their order.
std::string identity_of(std::string_view version, const std::vector<std::string>& texts);

}  // namespace slmsim
