// Short names of many GPUs and VMs.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// Larger groups are shown in short form: as ranges of VMs, and once for all equal ones.
inline constexpr std::size_t kMostNamedGpus = 512;

// Five or more consecutively numbered names become one, "node0..node127"; the others are unchanged.
std::vector<std::string> in_ranges(const std::vector<std::string>& names);

// VMs with all their GPUs, in order, by the VM's name, other GPUs by their own; in ranges.
std::vector<std::string> names_of_gpus(const Platform& platform, const std::vector<int>& devices);

}  // namespace slmsim
