// The extent of a set of devices: within a VM, within a site, or beyond.
#pragma once

#include <span>

#include "sim/platform/platform.h"

namespace slmsim {

// Whether these devices, at least one, are in several VMs, and at several sites.
bool spans_vms(const Platform& platform, std::span<const int> devices);
bool spans_sites(const Platform& platform, std::span<const int> devices);

}  // namespace slmsim
