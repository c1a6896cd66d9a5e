// A GPU model as its data sheet describes it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"

namespace slmsim {

enum class Precision { kFp16, kBf16, kTf32, kFp32 };
inline constexpr std::size_t kPrecisions = 4;

const std::vector<std::string>& precision_names();

// Bytes of one element in memory.
double element_bytes(Precision precision);

struct Gpu {
  std::string name;   // "a30"
  std::string title;  // "NVIDIA A30"
  std::string architecture;
  int multiprocessors = 0;
  Bytes memory;
  BytesPerSecond memory_bandwidth;
  std::array<FlopsPerSecond, kPrecisions> peak{};  // dense; 0 where the GPU does not have it
  BytesPerSecond pcie;                             // one direction
  BytesPerSecond nvlink;                           // one direction, all links; 0 without NVLink
  int compute_capability = 0;                      // 86: 8.6
};

const std::vector<std::string>& architecture_names();

Gpu read_gpu(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
