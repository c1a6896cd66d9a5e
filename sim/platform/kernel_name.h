// Names of the kernels that a profile may hold, as slmsim-calibrate times them (sim/compute/kernel.h describes each).
#pragma once

#include <string>
#include <vector>

namespace slmsim {

// In alphabetical order.
const std::vector<std::string>& kernel_names();
bool is_kernel(const std::string& name);

}  // namespace slmsim
