#include "sim/platform/mesh_kind.h"

#include "sim/platform/span.h"

namespace slmsim {

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
