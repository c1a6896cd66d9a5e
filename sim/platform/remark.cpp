#include "sim/platform/remark.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/platform/gpu_name.h"

namespace slmsim {
namespace {

// "2 t4 and 1 a30"
std::string gpus_text(const Platform& platform, const Vm& vm) {
  std::map<std::string, int> counts;
  for (int i = 0; i < vm.device_count; ++i)
    ++counts[platform.devices[static_cast<std::size_t>(vm.first_device + i)].gpu.name];
  std::string out;
  for (const auto& [name, count] : counts) out += fmt::format("{}{} {}", out.empty() ? "" : " and ", count, name);
  return out;
}

// "1 a100-40", "8 a100-40 or a100-80", "8 GPUs".
std::string offer_text(const VmType& type) {
  std::string kinds = fmt::format("{}", fmt::join(type.gpus, " or "));
  if (type.gpu_count == 0) return kinds;
  const std::string any = type.gpu_count == 1 ? "GPU" : "GPUs";
  return fmt::format("{} {}", type.gpu_count, kinds.empty() ? any : kinds);
}

bool contradicts(const Platform& platform, const Vm& vm) {
  const VmType& type = vm.type;
  if (type.gpu_count > 0 && vm.device_count > type.gpu_count) return true;
  for (int i = 0; i < vm.device_count && !type.gpus.empty(); ++i) {
    const std::string& gpu = platform.devices[static_cast<std::size_t>(vm.first_device + i)].gpu.name;
    if (std::find(type.gpus.begin(), type.gpus.end(), gpu) == type.gpus.end()) return true;
  }
  return false;
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

void add_other_variants(const Platform& platform, std::vector<std::string>& out) {
  for (const Device& device : platform.devices) {
    const Gpu& gpu = device.gpu;
    if (is_same_gpu(gpu.measured_on, gpu.name) || !is_other_variant(gpu.measured_on, gpu.title)) continue;
    add_once(out,
             fmt::format("the profile of {} was measured on another variant of it, {}: its times count all the same",
                         gpu.name, printable(gpu.measured_on).substr(0, 64)));
  }
}

}  // namespace

std::vector<std::string> contradictions_in(const Platform& platform) {
  std::vector<std::string> out;
  std::set<std::pair<std::string, std::string>> told;  // type and GPUs
  for (const Vm& vm : platform.vms) {
    if (!contradicts(platform, vm)) continue;
    const std::string gpus = gpus_text(platform, vm);
    if (!told.emplace(vm.type.name, gpus).second) continue;
    out.push_back(fmt::format(
        "{} is of type {}, which comes with {}, and has {}: its network card and price are taken all the same", vm.name,
        vm.type.title, offer_text(vm.type), gpus));
  }
  return out;
}

std::vector<std::string> remarks_on(const Platform& platform) {
  std::vector<std::string> out;
  for (const Vm& vm : platform.vms) {
    const auto measured = [&](const Device& device) {
      return device.gpu.buses.peer.value > 0 && &platform.vms[static_cast<std::size_t>(device.vm)] == &vm;
    };
    if (vm.type.says_how_gpus_meet || vm.device_count < 2) continue;
    if (std::any_of(platform.devices.begin(), platform.devices.end(), measured)) continue;
    add_once(out, fmt::format("VM type {} does not say how its GPUs reach each other: through host memory, at {:g} of "
                              "their PCIe rate; state "
                              "peer_to_peer, nvlink, pcie_share or inside",
                              vm.type.name, vm.type.pcie_share));
  }
  add_other_variants(platform, out);
  return out;
}

}  // namespace slmsim
