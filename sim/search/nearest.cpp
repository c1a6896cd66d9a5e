#include "sim/search/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/compute/operator_graph.h"
#include "sim/platform/wan_route.h"

namespace slmsim {
namespace {

TechniqueFamily family_of(const Plan& plan) {
  if (std::holds_alternative<OperatorPlan>(plan.by)) return TechniqueFamily::kOperators;
  if (std::holds_alternative<MegatronPlan>(plan.by)) return TechniqueFamily::kMegatron;
  if (std::holds_alternative<RoundPlan>(plan.by)) return TechniqueFamily::kRounds;
  return TechniqueFamily::kReplicas;
}

double outside_of(double value, const Range<double>& range) {
  return std::max({0.0, range.low - value, value - range.high});
}

double log_outside(double value, const Range<double>& range) {
  return outside_of(std::log10(value), {std::log10(range.low), std::log10(range.high)});
}

const char* name_of(Fabric fabric) {
  switch (fabric) {
    case Fabric::kNone:
      return "one GPU";
    case Fabric::kPcie:
      return "PCIe";
    case Fabric::kNvlink:
      return "NVLink";
    case Fabric::kTcp:
      return "TCP";
    case Fabric::kRdma:
      return "RDMA";
  }
  return "";
}

const char* name_of(TechniqueFamily family) {
  switch (family) {
    case TechniqueFamily::kReplicas:
      return "replicas";
    case TechniqueFamily::kOperators:
      return "Alpa's plans";
    case TechniqueFamily::kMegatron:
      return "Megatron's plans";
    case TechniqueFamily::kRounds:
      return "rounds of local steps";
  }
  return "";
}

std::string parameters_text(double millions) {
  return millions < 1000 ? fmt::format("{:.3g} M parameters", millions)
                         : fmt::format("{:.3g} B parameters", millions / 1000);
}

// Features beyond the range of all clusters, and combinations that none has.
std::vector<std::string> outside_of_all(const ClusterFeatures& f) {
  const auto& all = validated_clusters();
  const auto none = [&](auto holds) { return std::none_of(all.begin(), all.end(), holds); };
  std::vector<std::string> out;
  if (none([&](const auto& c) { return f.sites <= c.sites; })) out.push_back(fmt::format("{} sites", f.sites));
  if (none([&](const auto& c) { return f.rtt <= c.rtt.high; })) out.push_back(fmt::format("RTT {:.3g} ms", f.rtt));
  if (none([&](const auto& c) { return f.gpus <= c.gpus.high; })) out.push_back(fmt::format("{:.0f} GPUs", f.gpus));
  if (none([&](const auto& c) { return f.memory >= c.memory.low; }) ||
      none([&](const auto& c) { return f.memory <= c.memory.high; }))
    out.push_back(fmt::format("GPUs of {:.3g} GiB", f.memory));
  if (none([&](const auto& c) { return f.parameters >= c.parameters.low; }) ||
      none([&](const auto& c) { return f.parameters <= c.parameters.high; }))
    out.push_back(parameters_text(f.parameters));
  if (none([&](const auto& c) { return f.fabric == c.fabric && f.family == c.family; }))
    out.push_back(fmt::format("{} over {}", name_of(f.family), name_of(f.fabric)));
  return out;
}

}  // namespace

const std::vector<ValidatedCluster>& validated_clusters() {  // NOLINT(readability-function-size): a table
  using enum Fabric;
  using enum TechniqueFamily;
  // Errors of cells that no value was fitted to, where the page has these. tests/search/nearest_test.cpp compares them with the
  // pages.
  static const std::vector<ValidatedCluster> kClusters = {
      {"two FABRIC sites over TCP", "fabric.md", 0.25, 2, {20.2, 104}, {4, 4}, {15, 24}, kTcp, kOperators, {354, 657}},
      {"one FABRIC site over TCP", "fabric.md", 0.39, 1, {0, 1}, {4, 4}, {15, 24}, kTcp, kOperators, {354, 657}},
      {"two GPUs of one FABRIC VM",
       "fabric.md",
       0.06,
       1,
       {0, 0},
       {2, 2},
       {24, 24},
       kPcie,
       kOperators,
       {354, 355}},  // fitted
      {"one node of 4 A100", "deepspeed.md", 0.167, 1, {0, 0}, {4, 4}, {40, 40}, kNvlink, kReplicas, {700, 33300}},
      {"two nodes of 4 A100", "deepspeed.md", 0.167, 1, {0, 1}, {8, 8}, {40, 40}, kRdma, kReplicas, {700, 12000}},
      {"machines with shaped NICs", "wan.md", 0.0385, 1, {0, 1}, {4, 4}, {45, 45}, kTcp, kRounds, {30, 30}},
      {"one H100 or H200", "steps.md", 0.051, 1, {0, 0}, {1, 1}, {80, 141}, kNone, kReplicas, {124, 1560}},
      {"one A40, RTX 6000, V100 or P100", "runs.md", 0.069, 1, {0, 0}, {1, 1}, {16, 45}, kNone, kReplicas, {86, 110}},
      {"one of fifteen GPUs, V100 to H200",
       "runs.md",
       0.049,
       1,
       {0, 0},
       {1, 1},
       {16, 141},
       kNone,
       kReplicas,
       {108, 336}},
      {"one A100 of 80 GB", "runs.md", 0.075, 1, {0, 0}, {1, 1}, {80, 80}, kNone, kReplicas, {124, 124}},
      {"two RTX 3090 or 4090", "runs.md", 0.05, 1, {0, 0}, {2, 2}, {24, 24}, kPcie, kReplicas, {108, 336}},
      {"8 A100 of 80 GB", "runs.md", 0.029, 1, {0, 0}, {8, 8}, {80, 80}, kNvlink, kReplicas, {125, 30000}},
      {"16 to 64 A100 of 40 GB", "runs.md", 0.038, 1, {0, 1}, {16, 64}, {40, 40}, kRdma, kReplicas, {125, 7000}},
      {"8 H100", "runs.md", 0.059, 1, {0, 0}, {8, 8}, {80, 80}, kNvlink, kReplicas, {760, 13000}},
      {"one to four H200", "runs.md", 0.072, 1, {0, 0}, {1, 4}, {141, 141}, kNvlink, kReplicas, {8000, 8000}},
      {"64 to 256 H100", "runs.md", 0.046, 1, {0, 1}, {64, 256}, {95, 95}, kRdma, kReplicas, {8000, 406000}},
      {"2 to 32 H200", "runs.md", 0.075, 1, {0, 1}, {2, 32}, {141, 141}, kRdma, kReplicas, {8000, 71000}},
      {"8 A100 of Selene", "gpu.md", 0.027, 1, {0, 0}, {8, 8}, {80, 80}, kNvlink, kMegatron, {22000, 22100}},
      {"64 to 512 A100 of Selene", "gpu.md", 0.032, 1, {0, 1}, {64, 512}, {80, 80}, kRdma, kMegatron, {175000, 1e6}},
      {"pipelines of 64 V100 in two regions",
       "far-apart.md",
       0.055,
       2,
       {22, 22},
       {64, 64},
       {16, 16},
       kTcp,
       kMegatron,
       {1200, 2200}},
      {"pipelines of 64 V100 in four regions",
       "far-apart.md",
       0.21,
       4,
       {20, 134},
       {64, 64},
       {16, 16},
       kTcp,
       kMegatron,
       {1200, 2200}},
      {"pipelines of 64 V100 in eight regions",
       "far-apart.md",
       0.22,
       8,
       {20, 476},
       {64, 64},
       {16, 16},
       kTcp,
       kMegatron,
       {1200, 2200}},
      {"ZeRO-3 on 64 V100 in two regions",
       "far-apart.md",
       0.04,
       2,
       {22, 22},
       {64, 64},
       {16, 16},
       kTcp,
       kReplicas,
       {1200, 2200}},
      {"ZeRO-3 on 64 V100 in four regions",
       "far-apart.md",
       0.717,
       4,
       {20, 134},
       {64, 64},
       {16, 16},
       kTcp,
       kReplicas,
       {1200, 2200}},
      {"ZeRO-3 on 64 V100 in eight regions",
       "far-apart.md",
       0.319,
       8,
       {20, 476},
       {64, 64},
       {16, 16},
       kTcp,
       kReplicas,
       {1200, 2200}},
  };
  return kClusters;
}

double distance(const ClusterFeatures& f, const ValidatedCluster& c) {
  const double parts[] = {static_cast<double>(f.sites - c.sites),
                          log_outside(1 + f.rtt, {1 + c.rtt.low, 1 + c.rtt.high}),
                          log_outside(f.gpus, c.gpus),
                          log_outside(f.memory, c.memory),
                          log_outside(f.parameters, c.parameters),
                          f.fabric == c.fabric ? 0.0 : 1.0,
                          f.family == c.family ? 0.0 : 1.0};
  double sum = 0;
  for (const double part : parts) sum += part * part;
  return std::sqrt(sum);
}

ClusterFeatures features_of(const Scenario& scenario, const Prediction& p) {
  const Platform& platform = scenario.platform;
  ClusterFeatures out;
  out.gpus = p.gpus;
  out.memory = std::numeric_limits<double>::infinity();
  std::set<int> vms, sites;
  bool nvlink = true, rdma = true;
  for (const auto& group : scenario.groups) {
    if (group.names != p.group) continue;
    for (const int device : group.devices) {
      const Device& at = platform.devices[device];
      const VmType& type = platform.vms[at.vm].type;
      out.memory = std::min(out.memory, at.gpu.memory.value / kGibi);
      vms.insert(at.vm);
      sites.insert(platform.vms[at.vm].site);
      nvlink = nvlink && (type.nvlink || (!type.inside.empty() && at.gpu.nvlink.value > 0));
      rdma = rdma && type.rdma;
    }
  }
  out.sites = static_cast<int>(sites.size());
  out.fabric = vms.size() > 1 ? (rdma ? Fabric::kRdma : Fabric::kTcp)
               : p.gpus == 1  ? Fabric::kNone
               : nvlink       ? Fabric::kNvlink
                              : Fabric::kPcie;
  std::set<std::string> names;
  for (const int site : sites) {
    names.insert(platform.sites[site].name);
    if (vms.size() > 1) out.rtt = std::max(out.rtt, platform.sites[site].rtt.value * 1e3);
  }
  if (sites.size() > 1) {
    for (const auto& route : site_routes(platform, platform.sites.size() * platform.sites.size())) {
      if (names.contains(route.from) && names.contains(route.to)) out.rtt = std::max(out.rtt, route.rtt.value * 1e3);
    }
  }
  if (p.plan) out.family = family_of(*p.plan);
  for (const auto& model : scenario.models) {
    if (model.name == p.model) out.parameters = parameter_count(build_operator_graph(model)) / 1e6;
  }
  return out;
}

NearestValidated nearest_validated(const Scenario& scenario, const Prediction& prediction) {
  const ClusterFeatures features = features_of(scenario, prediction);
  const auto& all = validated_clusters();
  const auto& nearest = *std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return distance(features, a) < distance(features, b);
  });
  return {nearest.name, fmt::format("docs/validation/{}", nearest.page), nearest.error, distance(features, nearest),
          outside_of_all(features)};
}

}  // namespace slmsim
