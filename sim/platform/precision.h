// The number formats in which a model is trained.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace slmsim {

enum class Precision { kFp16, kBf16, kTf32, kFp32 };
inline constexpr std::size_t kPrecisions = 4;

const std::vector<std::string>& precision_names();

// Bytes of one element in memory.
double element_bytes(Precision precision);

}  // namespace slmsim
