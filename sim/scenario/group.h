// Groups of GPUs that are tried together: as a scenario's `groups` names them, or by default.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"

namespace slmsim {

// GPUs that a plan may use.
struct Group {
  std::vector<std::string> names;  // VM names, or GPU names where only some of a VM's are taken
  std::vector<int> devices;        // indices into Platform::devices

  bool operator==(const Group&) const = default;
};

// Without `groups` a scenario tries all VMs together, each pair of sites, each site and each VM. Pairs up to this many
// sites: 6 pairs of 4, where 5 have 10; sites and pairs up to this many GPUs, beyond which a prediction takes so long
// that the scenario should say what matters.
inline constexpr std::size_t kMostPairedSites = 4;
inline constexpr std::size_t kMostGpusOfSites = 64;

// Reads `groups` of a scenario, or takes the default. Equal groups are one, at the place of the first.
std::vector<Group> read_groups(Fields& fields, const Platform& platform, Reading& reading);
// Those of a scenario without `groups`.
std::vector<Group> usual_groups(const Platform& platform);

// Sites that have GPUs, in the platform's order.
std::vector<int> sites_with_vms(const Platform& platform);
// The sites whose VMs are exactly those named, in the platform's order; nothing where a site is there in part only.
std::vector<int> whole_sites(const Platform& platform, const std::vector<std::string>& names);

}  // namespace slmsim
