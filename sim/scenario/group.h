// Groups of GPUs to predict: those of a scenario's `groups`, or the default ones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"

namespace slmsim {

// GPUs that a plan may use.
struct Group {
  std::vector<std::string> names;  // VM names, or GPU names for a part of a VM
  std::vector<int> devices;        // indices into Platform::devices

  bool operator==(const Group&) const = default;
};

// Default groups: all VMs together, each pair of sites, each site and each VM. Pairs are limited to this number of
// sites (6 pairs of 4; 5 have 10). Sites and pairs are limited to this number of GPUs; above it, predictions take too
// long to be run by default.
inline constexpr std::size_t kMostPairedSites = 4;
inline constexpr std::size_t kMostGpusOfSites = 64;

// Reads `groups` of a scenario, or returns the default. Equal groups are merged at the position of the first.
std::vector<Group> read_groups(Fields& fields, const Platform& platform, Reading& reading);
// Default groups of a scenario without `groups`.
std::vector<Group> usual_groups(const Platform& platform);

// Sites that have GPUs, in the platform's order.
std::vector<int> sites_with_vms(const Platform& platform);
// The sites whose VMs are exactly those named, in the platform's order; nothing where only part of a site is named.
std::vector<int> whole_sites(const Platform& platform, const std::vector<std::string>& names);

// Short names of many GPUs and VMs.

// Larger groups are shown in short form: as ranges of VMs, and once for all equal ones.
inline constexpr std::size_t kMostNamedGpus = 512;

// Five or more consecutively numbered names become one, "node0..node127"; the others are unchanged.
std::vector<std::string> in_ranges(const std::vector<std::string>& names);

// VMs with all their GPUs, in order, by the VM's name, other GPUs by their own; in ranges.
std::vector<std::string> names_of_gpus(const Platform& platform, const std::vector<int>& devices);

}  // namespace slmsim
