#include "sim/platform/mesh_kind.h"

#include "sim/platform/span.h"

namespace slmsim {

std::vector<int> MeshKinds::of(const std::vector<int>& mesh) const {
  if (spans_vms(platform_, mesh)) return mesh;
  const int vm = platform_.devices[static_cast<std::size_t>(mesh.front())].vm;
  const Vm& its = platform_.vms[static_cast<std::size_t>(vm)];
  std::vector<int> kind = {-1 - vm_kinds_[static_cast<std::size_t>(vm)]};  // negative: differs from any device
  for (const int device : mesh) {
    kind.push_back(its.type.inside.empty() ? gpu_kinds_[static_cast<std::size_t>(device)] : device - its.first_device);
  }
  return kind;
}

}  // namespace slmsim
