// A GPU model as its data sheet describes it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/platform/profile.h"

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
  std::shared_ptr<const GpuProfile> profile;       // measured times of its kernels, where there are any
};

const std::vector<std::string>& architecture_names();

// By the names that GPUs give in `profile`.
using Profiles = std::map<std::string, std::shared_ptr<const GpuProfile>>;

// Without `profiles`, what `profile` names is not looked up.
Gpu read_gpu(const Node& node, const std::string& path, Reading& reading, const Profiles* profiles = nullptr);

}  // namespace slmsim
