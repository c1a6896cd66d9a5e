#include "sim/predict/lower_alike.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace slmsim {
namespace {

constexpr std::size_t kFewDevices = 16;  // of which the whole graph costs no more than finding out who is alike
constexpr int kMostRefinements = 4;

// nullopt where the colours do not hold.
std::optional<Lowered> lower_by(const LowerRequest& request, Colours colours) {
  for (int i = 0; i < kMostRefinements; ++i) {
    LowerRequest folded = request;
    folded.alike = &colours;
    Lowered lowered = request.plan.technique->lower(folded);
    Colours finer = lowered.graph.settle();
    if (finer.devices.empty()) return lowered;
    colours = std::move(finer);
  }
  return std::nullopt;
}

// Of each GPU of a VM, how many before it have the same nearest NIC.
std::vector<int> places_at_nics(const Vm& vm) {
  const std::vector<int> parts = vm.type.inside.of_kind(PartKind::kGpu);
  std::map<int, int> met;
  std::vector<int> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(vm.device_count); ++i)
    out.push_back(i < parts.size() ? met[nearest_part(vm.type.inside, parts[i], PartKind::kNic)]++ : 0);
  return out;
}

}  // namespace

Colours alike_in_plan(const Plan& plan, const Platform& platform, Alike where) {
  const std::vector<int> gpus = gpu_kinds(platform), vms = vm_kinds(platform);
  // What each device does in the plan: stage, part of the batch and, within rows, column.
  std::vector<std::vector<double>> roles(platform.devices.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    for (std::size_t i = 0; i < stage.mesh.size(); ++i) {
      auto& role = roles[static_cast<std::size_t>(stage.mesh[i])];
      role.push_back(static_cast<double>(s));
      role.push_back(i < stage.batch_shares.size() ? stage.batch_shares[i] : 0);
      if (where == Alike::kInRows)
        role.push_back(static_cast<double>(i % static_cast<std::size_t>(std::max(1, stage.columns))));
    }
  }
  std::map<int, std::vector<int>> at_nics;  // of VMs of a kind
  std::map<std::tuple<int, int, int, int, int, std::vector<double>>, int> known;
  Colours out;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    const int vm = platform.devices[i].vm;
    const Vm& own = platform.vms[static_cast<std::size_t>(vm)];
    const int kind = vms[static_cast<std::size_t>(vm)], slot = static_cast<int>(i) - own.first_device;
    int place = where == Alike::kInRows ? slot : 0;
    if (where == Alike::kOnRails) {
      auto& places = at_nics[kind];
      if (places.empty()) places = places_at_nics(own);
      place = places[static_cast<std::size_t>(slot)];
    }
    const int by_vm = where == Alike::kInVms || where == Alike::kOnRails ? vm : 0;
    const auto key = std::tuple{gpus[i], kind, own.site, by_vm, place, std::move(roles[i])};
    out.devices.push_back(known.try_emplace(key, static_cast<int>(known.size())).first->second);
  }
  return out;
}

Lowered lower_alike(const LowerRequest& request) {
  if (devices_of(request.plan).size() > kFewDevices) {
    for (const Alike where : {Alike::kEverywhere, Alike::kInRows, Alike::kInVms, Alike::kOnRails}) {
      try {
        if (auto lowered = lower_by(request, alike_in_plan(request.plan, request.scenario.platform, where)))
          return std::move(*lowered);
      } catch (const NotAlike&) {
      }
    }
  }
  return request.plan.technique->lower(request);
}

}  // namespace slmsim
