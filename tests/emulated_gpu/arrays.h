// The arrays of the workloads that live, for tests that look at them or spoil them.
#pragma once

#include <cstddef>
#include <vector>

namespace slmsim::calibrate {

struct EmulatedArray {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int set = 0;
  const std::byte* memory = nullptr;  // of the allocation
};
std::vector<EmulatedArray>& emulated_arrays();

}  // namespace slmsim::calibrate
