#include "sim/platform/mesh.h"

#include <algorithm>

namespace slmsim {

namespace {

int vm_of(const Platform& platform, int device) { return platform.devices[device].vm; }

int site_of(const Platform& platform, int device) { return platform.vms[vm_of(platform, device)].site; }

}  // namespace

bool spans_vms(const Platform& platform, std::span<const int> devices) {
  const int first = vm_of(platform, devices.front());
  return std::ranges::any_of(devices, [&](int device) { return vm_of(platform, device) != first; });
}

bool spans_sites(const Platform& platform, std::span<const int> devices) {
  const int first = site_of(platform, devices.front());
  return std::ranges::any_of(devices, [&](int device) { return site_of(platform, device) != first; });
}

std::vector<int> MeshKinds::of(const std::vector<int>& mesh) const {
  if (spans_vms(platform_, mesh)) return mesh;
  const int vm = platform_.devices[mesh.front()].vm;
  const Vm& its = platform_.vms[vm];
  std::vector<int> kind = {-1 - vm_kinds_[vm]};  // negative: differs from any device
  for (const int device : mesh) {
    kind.push_back(its.type.inside.empty() ? gpu_kinds_[device] : device - its.first_device);
  }
  return kind;
}

}  // namespace slmsim
