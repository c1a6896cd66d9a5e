#include "sim/platform/span.h"

#include <algorithm>

namespace slmsim {
namespace {

int vm_of(const Platform& platform, int device) { return platform.devices[device].vm; }

int site_of(const Platform& platform, int device) {
  return platform.vms[vm_of(platform, device)].site;
}

}  // namespace

bool spans_vms(const Platform& platform, std::span<const int> devices) {
  const int first = vm_of(platform, devices.front());
  return std::any_of(devices.begin(), devices.end(), [&](int device) { return vm_of(platform, device) != first; });
}

bool spans_sites(const Platform& platform, std::span<const int> devices) {
  const int first = site_of(platform, devices.front());
  return std::any_of(devices.begin(), devices.end(), [&](int device) { return site_of(platform, device) != first; });
}

}  // namespace slmsim
