// Names of many GPUs and VMs, short enough to be read.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// Groups of more GPUs are told in short: by ranges of VMs, and once for all that are alike.
inline constexpr std::size_t kMostNamedGpus = 512;

// At least five names that are numbered on become one, "node0..node127"; the others stay as they are.
std::vector<std::string> in_ranges(const std::vector<std::string>& names);

// VMs of which all GPUs are there, in their order, by the VM's name, other GPUs by theirs; in ranges.
std::vector<std::string> names_of_gpus(const Platform& platform, const std::vector<int>& devices);

}  // namespace slmsim
