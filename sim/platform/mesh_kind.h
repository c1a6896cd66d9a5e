// Equivalence of meshes of GPUs, independent of names.
#pragma once

#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

class MeshKinds {
 public:
  explicit MeshKinds(const Platform& platform)
      : platform_(platform), gpu_kinds_(gpu_kinds(platform)), vm_kinds_(vm_kinds(platform)) {}

  // Equal for equivalent meshes. Inside one VM: the VM's kind with that of the GPUs, or with their places where these
  // differ. Else the GPUs themselves.
  std::vector<int> of(const std::vector<int>& mesh) const;

 private:
  const Platform& platform_;
  std::vector<int> gpu_kinds_, vm_kinds_;
};

}  // namespace slmsim
