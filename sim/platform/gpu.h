// A GPU model as its data sheet describes it, and what was measured of it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/platform/precision.h"
#include "sim/platform/profile.h"

namespace slmsim {

class KernelTable;
class Profiles;

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
  // What the profile holds that the GPU names, where it names one.
  std::shared_ptr<const KernelTable> kernels;  // sim/platform/kernel_table.h
  MeasuredBuses buses;

  bool operator==(const Gpu&) const = default;
};

const std::vector<std::string>& architecture_names();

// The data sheet's rate, the fp32 rate where the GPU lacks the precision.
FlopsPerSecond peak_of(const Gpu& gpu, Precision precision);

// Without `profiles`, what `profile` names is not looked up.
Gpu read_gpu(const Node& node, const std::string& path, Reading& reading, Profiles* profiles = nullptr);

}  // namespace slmsim
