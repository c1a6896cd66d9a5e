// A GPU's measured kernels: a file of platforms/profiles, as slmsim-calibrate writes it (schema slmsim/gpu-profile/1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"

namespace slmsim {

struct KernelPoint {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  Seconds time;  // of one launch in a row of launches
};

struct GpuProfile {
  std::string name;
  std::string gpu;  // as the driver calls it, "NVIDIA A30"
  // By kernel and precision ("gemm-nn", "fp16"), in the order of their sizes.
  std::map<std::pair<std::string, std::string>, std::vector<KernelPoint>> kernels;
  Seconds launch;  // of an empty kernel in a row of launches; 0 where it was not measured

  const std::vector<KernelPoint>* find(const std::string& kernel, const std::string& precision) const;
};

bool is_profile(const Node& node);
GpuProfile read_profile(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
