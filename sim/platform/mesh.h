// Sets of GPUs: their extent (within a VM, within a site, or beyond), and their equivalence, independent of names.
#pragma once

#include <span>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// Whether these devices, at least one, are in several VMs, and at several sites.
bool spans_vms(const Platform& platform, std::span<const int> devices);
bool spans_sites(const Platform& platform, std::span<const int> devices);

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
