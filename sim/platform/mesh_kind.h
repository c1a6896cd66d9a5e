// Which meshes of GPUs are alike, whatever their names.
#pragma once

#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

class MeshKinds {
 public:
  explicit MeshKinds(const Platform& platform)
      : platform_(platform), gpu_kinds_(gpu_kinds(platform)), vm_kinds_(vm_kinds(platform)) {}

  // Equal for meshes that are alike: in one VM its kind with that of the GPUs, or with their places where these differ; else
  // the GPUs themselves.
  std::vector<int> of(const std::vector<int>& mesh) const;

 private:
  const Platform& platform_;
  std::vector<int> gpu_kinds_, vm_kinds_;
};

}  // namespace slmsim
