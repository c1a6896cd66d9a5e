#include "sim/predict/job/checkpoint.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sim/compute/operator_graph.h"
#include "sim/platform/wan_route.h"
#include "sim/technique/common/memory.h"

namespace slmsim {
namespace {

constexpr double kOuterBytes = 8;  // per parameter: outer parameters and momentum in fp32

// Frozen weights have no optimizer's state.
double bytes_of(const Scenario& scenario, const Plan& plan, const OperatorGraph& operators) {
  const StateBytes state(scenario.training);
  const double weights = parameter_count(operators) * state.weight, trained = trained_count(operators);
  if (!plan.workload.backward) return weights;
  const auto* round = std::get_if<RoundPlan>(&plan.by);
  if (!round) return weights + trained * state.optimizer();
  const double replicas = static_cast<double>(plan.stages.front().mesh.size()) / round->gpus;
  const double outer = round->update == OuterUpdate::kNesterov ? kOuterBytes : 0;
  return weights + trained * (replicas * state.optimizer() + outer);
}

// Bytes that leave each site, and the number of VMs that send them.
struct SiteBytes {
  Bytes bytes;
  double vms = 0;
};

class RouteTimes {
 public:
  RouteTimes(const Platform& platform, int site)
      : platform_(platform),
        site_(site),
        ways_(platform),
        routes_(site_routes(platform, std::numeric_limits<std::size_t>::max())) {}

  // Time until all bytes have reached the site, or have left it.
  Seconds time(const std::map<int, SiteBytes>& by_site, bool to_site) const {
    Seconds out{0};
    std::map<std::pair<int, bool>, Bytes> on_links;
    for (const auto& [from, sent] : by_site) {
      if (from == site_) continue;
      for (const SiteRoute& route : routes_) {
        const bool forth = route.from == name(from) && route.to == name(site_);
        if (!forth && (route.from != name(site_) || route.to != name(from))) continue;
        const BytesPerSecond one = forth == to_site ? route.there : route.back;
        if (one.value > 0) out = std::max(out, sent.bytes / (one * sent.vms));
      }
      for (const WanHop& hop : to_site ? ways_.between(from, site_) : ways_.between(site_, from)) {
        // Elsewhere each connection has the link's rate.
        if (platform_.links[hop.link].bandwidth_of == BandwidthOf::kPath)
          on_links[{hop.link, hop.forward}] += sent.bytes;
      }
    }
    for (const auto& [hop, bytes] : on_links)
      out = std::max(out, bytes / direction_of(platform_, {hop.first, hop.second}).bandwidth);
    return out;
  }

 private:
  const std::string& name(int site) const { return platform_.sites[site].name; }

  const Platform& platform_;
  int site_;
  WanRoutes ways_;
  std::vector<SiteRoute> routes_;
};

// Time of the GPU that holds most, over its PCIe.
Seconds copy_time(const Platform& platform, const std::vector<VmBytes>& bytes) {
  Seconds out{0};
  for (const auto& [index, size] : bytes) {
    const Vm& vm = platform.vms[index];
    const Gpu& gpu = platform.devices[vm.first_device].gpu;
    out = std::max(out, size / static_cast<double>(vm.device_count) / gpu.pcie);
  }
  return out;
}

}  // namespace

std::vector<VmBytes> checkpoint_bytes(const Scenario& scenario, const Prediction& prediction,
                                      const OperatorGraph& operators) {
  const double all = bytes_of(scenario, *prediction.plan, operators);
  double held = 0;
  for (const DeviceMemory& gpu : prediction.memory) held += (gpu.parameters + gpu.optimizer).value;
  std::map<int, Bytes> by_vm;
  for (const DeviceMemory& gpu : prediction.memory) {
    const double share =
        held > 0 ? (gpu.parameters + gpu.optimizer).value / held : 1 / static_cast<double>(prediction.memory.size());
    by_vm[scenario.platform.devices[gpu.device].vm] += Bytes{all * share};
  }
  std::vector<VmBytes> out;
  out.reserve(by_vm.size());
  for (const auto& [vm, bytes] : by_vm) out.push_back({vm, bytes});
  return out;
}

CheckpointTimes checkpoint_times(const Scenario& scenario, const CheckpointRules& rules,
                                 const std::vector<VmBytes>& bytes) {
  CheckpointTimes out;
  const Platform& platform = scenario.platform;
  std::map<int, SiteBytes> by_site;
  Bytes most{0};
  for (const auto& [vm, size] : bytes) {
    out.bytes += size;
    most = std::max(most, size);
    SiteBytes& site = by_site[platform.vms[vm].site];
    site.bytes += size;
    site.vms += 1;
  }
  double receivers = 0;
  for (const Vm& vm : platform.vms) receivers += vm.site == rules.site ? 1 : 0;
  const bool to_site = rules.place == StoragePlace::kSite;
  for (const auto& [site, sent] : by_site) {
    if (to_site && site != rules.site) out.egress += sent.bytes;
  }
  const auto stored = [&](BytesPerSecond rate, bool writing) {
    if (!to_site) return most / rate;
    return std::max(out.bytes / (rate * receivers), RouteTimes(platform, rules.site).time(by_site, writing));
  };
  out.write = rules.time ? *rules.time : stored(*rules.rate, true);
  if (rules.read_time) {
    out.read = *rules.read_time;
  } else if (rules.read_rate || rules.rate) {
    out.read = stored(rules.read_rate ? *rules.read_rate : *rules.rate, false);
  } else {
    out.read = out.write;
  }
  out.pause = rules.background ? std::min(out.write, copy_time(platform, bytes)) : out.write;
  return out;
}

}  // namespace slmsim
