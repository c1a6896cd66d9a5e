#include "sim/platform/mesh_kind.h"

#include <algorithm>

namespace slmsim {

std::vector<int> MeshKinds::of(const std::vector<int>& mesh) const {
  const auto vm_of = [&](int device) { return platform_.devices[static_cast<std::size_t>(device)].vm; };
  const int vm = vm_of(mesh.front());
  if (!std::all_of(mesh.begin(), mesh.end(), [&](int device) { return vm_of(device) == vm; })) return mesh;
  const Vm& its = platform_.vms[static_cast<std::size_t>(vm)];
  std::vector<int> kind = {-1 - vm_kinds_[static_cast<std::size_t>(vm)]};  // no device
  for (const int device : mesh) {
    kind.push_back(its.type.inside.empty() ? gpu_kinds_[static_cast<std::size_t>(device)] : device - its.first_device);
  }
  return kind;
}

}  // namespace slmsim
