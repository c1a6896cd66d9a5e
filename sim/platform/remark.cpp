#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/platform/platform.h"

namespace slmsim {
namespace {

// "2 t4 and 1 a30"
std::string gpus_text(const Platform& platform, const Vm& vm) {
  std::map<std::string, int> counts;
  for (int i = 0; i < vm.device_count; ++i) ++counts[platform.devices[vm.first_device + i].gpu.name];
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
    const std::string& gpu = platform.devices[vm.first_device + i].gpu.name;
    if (std::ranges::find(type.gpus, gpu) == type.gpus.end()) return true;
  }
  return false;
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

// Adds properties that a type without a described inside states of its GPUs and that these lack.
void add_lacking(const Platform& platform, const Vm& vm, std::vector<std::string>& out) {
  for (int i = 0; i < vm.device_count; ++i) {
    const Gpu& gpu = platform.devices[vm.first_device + i].gpu;
    const bool joined = vm.type.nvlink && gpu.nvlink.value > 0;
    if (vm.type.nvlink && !joined)
      add_once(out, fmt::format("VM type {} says nvlink: yes, but {} has no NVLink: {} is used, at {:g} of the PCIe "
                                "rate; state nvlink: no",
                                vm.type.name, gpu.name,
                                vm.type.peer_to_peer ? "PCIe from GPU to GPU" : "the path through host memory",
                                vm.type.pcie_share));
    if (vm.type.peer_to_peer && !joined && !gpu.peer_to_peer)
      add_once(out, fmt::format("VM type {} says peer_to_peer: yes, which NVIDIA's driver does not support over PCIe "
                                "on {}: it is used anyway; state peer_to_peer: no unless another driver is in use",
                                vm.type.name, gpu.name));
  }
}

// Adds profiles that may belong to another variant of the GPU.
void add_doubtful_profiles(const Platform& platform, std::vector<std::string>& out) {
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    const Gpu& gpu = platform.devices[i].gpu;
    if (i > 0 && gpu == platform.devices[i - 1].gpu) continue;
    if (gpu.kernels && gpu.measured_on.empty())
      add_once(out, fmt::format("the profile of {} does not name the GPU it was measured on: its times are used as "
                                "{}'s; write gpu: {} in it if they are",
                                gpu.name, gpu.name, gpu.title));
    if (is_same_gpu(gpu.measured_on, gpu.name) || !is_other_variant(gpu.measured_on, gpu.title)) continue;
    add_once(out, fmt::format("the profile of {} was measured on another variant of it, {}: its times are used anyway",
                              gpu.name, printable(gpu.measured_on).substr(0, 64)));
  }
}

}  // namespace

std::vector<std::string> contradictions_in(const Platform& platform) {
  std::vector<std::string> out;
  std::set<std::pair<std::string, std::string>> reported;  // pairs of type and GPUs
  for (const Vm& vm : platform.vms) {
    if (!contradicts(platform, vm)) continue;
    const std::string gpus = gpus_text(platform, vm);
    if (!reported.emplace(vm.type.name, gpus).second) continue;
    out.push_back(
        fmt::format("{} is of type {}, which comes with {}, but has {}: its network card and price are used anyway",
                    vm.name, vm.type.title, offer_text(vm.type), gpus));
  }
  return out;
}

std::vector<std::string> remarks_on(const Platform& platform) {
  std::vector<std::string> out;
  for (const Vm& vm : platform.vms) {
    const auto measured = [](const Device& device) { return device.gpu.buses.peer.value > 0; };
    const auto first = platform.devices.begin() + vm.first_device;
    if (vm.device_count < 2 || std::any_of(first, first + vm.device_count, measured)) continue;
    if (vm.type.inside.empty()) add_lacking(platform, vm, out);
    if (vm.type.says_how_gpus_meet) continue;
    add_once(out, fmt::format("VM type {} does not say how its GPUs reach each other: host memory is used, at {:g} of "
                              "their PCIe rate; state peer_to_peer, nvlink, pcie_share or inside",
                              vm.type.name, vm.type.pcie_share));
  }
  add_doubtful_profiles(platform, out);
  return out;
}

}  // namespace slmsim
