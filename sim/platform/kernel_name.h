// The kernels that a profile may hold, by the names under which slmsim-calibrate times them (sim/cost/kernel.h tells what each
// does).
#pragma once

#include <string>
#include <vector>

namespace slmsim {

// By the alphabet.
const std::vector<std::string>& kernel_names();
bool is_kernel(const std::string& name);

}  // namespace slmsim
