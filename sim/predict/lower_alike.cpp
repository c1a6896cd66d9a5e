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
  std::map<std::tuple<int, int, int, int, std::vector<double>>, int> known;
  Colours out;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    const int vm = platform.devices[i].vm;
    const Vm& own = platform.vms[static_cast<std::size_t>(vm)];
    const int place = where == Alike::kInRows  ? static_cast<int>(i) - own.first_device
                      : where == Alike::kInVms ? vm
                                               : 0;
    const auto key = std::tuple{gpus[i], vms[static_cast<std::size_t>(vm)], own.site, place, std::move(roles[i])};
    out.devices.push_back(known.try_emplace(key, static_cast<int>(known.size())).first->second);
  }
  return out;
}

Lowered lower_alike(const LowerRequest& request) {
  const Platform& platform = request.scenario.platform;
  const std::vector<int> devices = devices_of(request.plan);
  const auto site = [&](int device) {
    return platform.vms[static_cast<std::size_t>(platform.devices[static_cast<std::size_t>(device)].vm)].site;
  };
  // TCP's windows between sites have states of their own.
  const bool at_one_site =
      std::all_of(devices.begin(), devices.end(), [&](int device) { return site(device) == site(devices.front()); });
  if (devices.size() > kFewDevices && at_one_site) {
    for (const Alike where : {Alike::kEverywhere, Alike::kInRows, Alike::kInVms}) {
      try {
        if (auto lowered = lower_by(request, alike_in_plan(request.plan, platform, where))) return std::move(*lowered);
      } catch (const NotAlike&) {
      }
    }
  }
  return request.plan.technique->lower(request);
}

}  // namespace slmsim
