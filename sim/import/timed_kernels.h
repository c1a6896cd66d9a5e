// The kernels that slmsim has names for, as sim/cost/kernel.h makes them of models.
#pragma once

#include <set>
#include <string>

namespace slmsim {

const std::set<std::string>& timed_kernels();

}  // namespace slmsim
