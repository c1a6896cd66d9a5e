#include "sim/predict/alike.h"

#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/platform/mesh.h"

namespace slmsim {

namespace {

constexpr std::size_t kFewDevices = 16;  // up to this size the whole graph costs no more than finding equal devices
constexpr int kMostRefinements = 4;

}  // namespace

Colouring alike_in_plan(const Plan& plan, const Platform& platform) {
  const std::vector<int> gpus = gpu_kinds(platform), vms = vm_kinds(platform);
  // Role of each device in the plan: stage, and share of the batch.
  std::vector<std::vector<double>> roles(platform.devices.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    for (std::size_t i = 0; i < stage.mesh.size(); ++i) {
      auto& role = roles[stage.mesh[i]];
      role.push_back(static_cast<double>(s));
      role.push_back(i < stage.batch_shares.size() ? stage.batch_shares[i] : 0);
    }
  }
  std::map<std::tuple<int, int, int, std::vector<double>>, int> known;
  Colouring out;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    const int vm = platform.devices[i].vm;
    const auto key = std::tuple{gpus[i], vms[vm], platform.vms[vm].site, std::move(roles[i])};
    out.devices.push_back(known.try_emplace(key, static_cast<int>(known.size())).first->second);
  }
  return out;
}

Lowered lower_alike(const LowerRequest& request) {
  if (devices_of(request.plan).size() <= kFewDevices) return request.plan.technique->lower(request);
  LowerRequest folded = request;
  Colouring colours = alike_in_plan(request.plan, request.scenario.platform);
  folded.alike = &colours;
  try {
    for (int i = 0; i < kMostRefinements; ++i) {
      Lowered lowered = request.plan.technique->lower(folded);
      Colouring finer = lowered.graph.settle();
      if (finer.devices.empty()) return lowered;
      colours = std::move(finer);
    }
  } catch (const ColouringError&) {
  }
  return request.plan.technique->lower(request);
}

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
