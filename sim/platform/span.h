// How far devices are apart: within a VM, within a site, or beyond.
#pragma once

#include <span>

#include "sim/platform/platform.h"

namespace slmsim {

// Whether these devices, of which there is one at least, are of several VMs, and of several sites.
bool spans_vms(const Platform& platform, std::span<const int> devices);
bool spans_sites(const Platform& platform, std::span<const int> devices);

}  // namespace slmsim
