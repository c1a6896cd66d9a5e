#include "sim/predict/alike.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/collective/alone.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

constexpr std::size_t kFewDevices = 4;  // up to this size the whole graph costs no more than finding equal devices
constexpr int kMostRefinements = 4;

// GPUs to merge: equal ones in equal VMs of one site, in the same stages of the plan and with equal shares of the batch.
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

// Lowers with finer and finer colours until they hold; nothing where none do.
std::optional<Lowered> lower_folded(const LowerRequest& request, Colouring& colours) {
  LowerRequest folded = request;
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
  return std::nullopt;
}

}  // namespace

Lowered lower_alike(const LowerRequest& of, Colouring& colours) {
  LowerRequest request = of;
  request.only_times = !of.hosts_apart;
  if (devices_of(request.plan).size() <= kFewDevices) return request.plan.technique->lower(request);
  Colouring coarsest = alike_in_plan(request.plan, request.scenario.platform);
  if (request.passages != nullptr && !request.passages->in_full.empty()) {
    for (int& colour : coarsest.devices) colour *= 2;
    for (const int device : request.passages->in_full) ++coarsest.devices[device];
  }
  if (colours.devices.empty()) {
    LowerRequest connecting = request;
    connecting.alike = &coarsest;
    connecting.only_connections = true;
    const int few = in_whole_rounds(static_cast<int>(request.plan.stages.size()), request.plan);
    connecting.only_micro_batches = std::min(few, request.micro_batches());
    colours = request.plan.technique->lower(connecting).graph.coarsest();
  }
  const bool known = colours != coarsest;
  if (auto lowered = lower_folded(request, colours)) return std::move(*lowered);
  colours = coarsest;
  if (known) {
    if (auto lowered = lower_folded(request, colours)) return std::move(*lowered);
  }
  return request.plan.technique->lower(request);
}

Lowered lower_alike(const LowerRequest& request) {
  Colouring colours;
  return lower_alike(request, colours);
}

}  // namespace slmsim
