#include "sim/predict/alike_groups.h"

#include <map>
#include <numeric>
#include <utility>

#include "sim/platform/span.h"

namespace slmsim {
namespace {

int vm_of(const Platform& platform, int device) { return platform.devices[device].vm; }

int first_device_beside(const Platform& platform, int device) {
  return platform.vms[vm_of(platform, device)].first_device;
}

Plan counted_from_vm(const Platform& platform, Plan plan) {
  const int first = first_device_beside(platform, plan.stages.front().mesh.front());
  for (Stage& stage : plan.stages) {
    for (int& device : stage.mesh) device -= first;
  }
  return plan;
}

}  // namespace

std::vector<std::size_t> first_alike(const Platform& platform, const std::vector<Group>& groups) {
  std::vector<std::size_t> out(groups.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  const std::vector<int> kinds = vm_kinds(platform);
  std::map<std::pair<int, std::vector<int>>, std::size_t> known;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<int> devices = groups[i].devices;
    if (spans_vms(platform, devices)) continue;
    const int vm = vm_of(platform, devices.front()), first = first_device_beside(platform, devices.front());
    for (int& device : devices) device -= first;
    out[i] = known.try_emplace({kinds[vm], std::move(devices)}, i).first->second;
  }
  return out;
}

void SharedIteration::keep(const Platform& platform, const Plan& plan, const Iteration& iteration) {
  plan_ = counted_from_vm(platform, plan);
  iteration_ = iteration;
  iteration_.times.last.start = iteration_.times.last.finish = {};  // these tasks exist in this group only
}

const Iteration* SharedIteration::of(const Platform& platform, const Plan& plan) const {
  return plan_ && *plan_ == counted_from_vm(platform, plan) ? &iteration_ : nullptr;
}

}  // namespace slmsim
