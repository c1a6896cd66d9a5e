#include "sim/technique/common/memory.h"

#include <algorithm>
#include <map>

namespace slmsim {
namespace {

// Host memory of a rank besides the states: Python, CUDA's host side, the data loader.
constexpr Bytes kHostFramework{5e9};

}  // namespace

const char* name_of(Moment moment) {
  switch (moment) {
    case Moment::kForward:
      return "end of the forward pass";
    case Moment::kStep:
      return "optimizer step";
    case Moment::kBackward:
      break;
  }
  return "backward pass";
}

const DeviceMemory& larger_of(const DeviceMemory& a, const DeviceMemory& b) { return b.total() > a.total() ? b : a; }

StateBytes::StateBytes(const Training& training)
    : weight(element_bytes(training.precision)),
      gradient(element_bytes(training.gradient_precision)),
      moments(state_of(training.optimizer)) {
  const double full = element_bytes(Precision::kFp32);
  if (training.update().has_master()) master = full;
  if (gradient < training.update().element()) gradient_copy = full;
}

DeviceMemory empty_memory(int device, const Scenario& scenario) {
  DeviceMemory memory;
  memory.device = device;
  const Bytes all = scenario.platform.devices[device].gpu.memory;
  memory.limit = all * scenario.memory.usable_share;
  memory.edge = scenario.software.caching_allocator ? std::min(memory.limit, all * kEdgeShare) : memory.limit;
  memory.framework = scenario.memory.framework;
  return memory;
}

std::vector<DeviceMemory> memory_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  return plan.technique->memory(plan, operators, scenario);
}

const DeviceMemory* fullest(const std::vector<DeviceMemory>& memory) {
  const auto at = std::max_element(memory.begin(), memory.end(), [](const DeviceMemory& a, const DeviceMemory& b) {
    return a.total() / a.limit < b.total() / b.limit;
  });
  return at == memory.end() ? nullptr : &*at;
}

std::vector<Store> stores_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  std::vector<Store> out;
  const Platform& platform = scenario.platform;
  const std::vector<int> gpus = devices_of(plan);
  std::map<int, std::vector<int>> of_vm;
  for (const int gpu : gpus) of_vm[platform.devices[gpu].vm].push_back(gpu);
  StoreMemory each;
  if (plan.technique->stored) each = plan.technique->stored(plan, operators, scenario);
  const NodeInside* known = nullptr;
  std::vector<int> nearest;  // the memory of each GPU of `known`, which VMs of one type share
  for (const auto& [vm, own] : of_vm) {
    const NodeInside& inside = platform.vms[vm].type.inside;
    if (!known || *known != inside) {
      known = &inside;
      nearest.clear();
      for (const int part : inside.of_kind(PartKind::kGpu))
        nearest.push_back(nearest_part(inside, part, PartKind::kMemory));
    }
    const std::string& name = platform.vms[vm].name;
    for (const int memory : inside.of_kind(PartKind::kMemory)) {
      Store store{name + "/" + inside.parts[memory].name,
                  false,
                  {},
                  inside.parts[memory].capacity};
      for (const int gpu : own) {
        if (nearest[gpu - platform.vms[vm].first_device] == memory) store.used += each.host + kHostFramework;
      }
      out.push_back(std::move(store));
    }
    if (inside.empty() && platform.vms[vm].type.host_memory.value > 0 && each.host.value > 0) {
      Store store{name + "/memory", false, {}, platform.vms[vm].type.host_memory};
      for (std::size_t i = 0; i < own.size(); ++i) store.used += each.host + kHostFramework;
      out.push_back(std::move(store));
    }
    for (const Volume& volume : inside.volumes) {
      Store store{name + "/" + volume.name, true, {}, {}};
      for (const int part_index : volume.drives)
        store.limit += inside.parts[part_index].capacity;
      for (const int gpu : own) {
        if (volume_of(platform, gpu) == &volume) store.used += each.drive;
      }
      out.push_back(std::move(store));
    }
  }
  return out;
}

bool fits(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const auto memory = memory_of(plan, operators, scenario);
  const auto stores = stores_of(plan, operators, scenario);
  return std::all_of(memory.begin(), memory.end(), [](const DeviceMemory& m) { return m.fits(); }) &&
         std::all_of(stores.begin(), stores.end(), [](const Store& s) { return s.fits(); });
}

}  // namespace slmsim
