#include "sim/platform/remark.h"

#include <algorithm>

#include <fmt/format.h>

namespace slmsim {

std::vector<std::string> remarks_on(const Platform& platform) {
  std::vector<std::string> out;
  for (const Vm& vm : platform.vms) {
    const auto measured = [&](const Device& device) {
      return device.gpu.buses.peer.value > 0 && &platform.vms[static_cast<std::size_t>(device.vm)] == &vm;
    };
    if (vm.type.says_how_gpus_meet || vm.device_count < 2) continue;
    if (std::any_of(platform.devices.begin(), platform.devices.end(), measured)) continue;
    std::string text = fmt::format(
        "VM type {} does not say how its GPUs reach each other: through host memory, at {:g} of their PCIe rate; state "
        "peer_to_peer, nvlink, pcie_share or inside",
        vm.type.name, vm.type.pcie_share);
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  }
  return out;
}

}  // namespace slmsim
