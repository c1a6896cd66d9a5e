// Rings of GPUs in one VM: neighbours reach each other at 100 B/s with a latency, and nothing else limits
// them.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/collective/ring.h"

namespace slmsim {

// The engine's clock is a double that runs on through all simulations of a process.
inline constexpr double kRingClock = 1e-7;  // s
inline constexpr double kRate = 100;    // B/s

// Bytes that each rank of a ring sends in total: a part of the buffer in every step.
inline Bytes sent_per_rank(Collective collective, int ranks, Bytes size) {
  return size * (static_cast<double>(step_count(collective, ranks)) / ranks);
}

// One VM whose GPU r sends and receives at rates[r].
inline Platform one_vm(const std::vector<double>& rates, double latency) {
  Platform platform;
  platform.sites = {{"site", Seconds{0}, Bytes{1500}}};
  VmType type;
  type.peer_to_peer = true;
  type.device_latency = Seconds{latency};
  platform.vms = {{"vm", 0, type, 0, static_cast<int>(rates.size())}};
  for (const double rate : rates) {
    Gpu gpu;
    gpu.pcie = BytesPerSecond{rate};
    platform.devices.push_back({gpu, 0, "vm/" + std::to_string(platform.devices.size())});
  }
  return platform;
}

inline Platform uniform(int ranks, double latency = 0) {
  return one_vm(std::vector<double>(static_cast<std::size_t>(ranks), kRate), latency);
}

// One collective on all GPUs of a platform; rank r is ready at ready[r] s (all at 0 without).
struct GroupRun {
  TaskGraph graph;
  std::vector<TaskId> result;  // per rank
  Timeline timeline;

  double at(std::size_t rank) const { return timeline.finish[result[rank]]; }
  // Numbers of transfers, by the sending rank.
  std::map<int, int> counts() const {
    std::map<int, int> out;
    for (const auto& task : graph.tasks())
      if (task.kind == TaskKind::kTransfer) ++out[from(task)];
    return out;
  }
  std::map<int, double> bytes() const {
    std::map<int, double> out;
    for (const auto& task : graph.tasks())
      if (task.kind == TaskKind::kTransfer) out[from(task)] += task.amount;
    return out;
  }
  int from(const Task& task) const { return graph.connections()[task.place].from; }
};

inline GroupRun collect(const Platform& platform, Collective collective, double size, RingRules rules,
                        std::vector<double> ready = {}) {
  const Network network(platform);
  const int ranks = static_cast<int>(platform.devices.size());
  GroupRun out{TaskGraph(network.links(), ranks), {}, {}};
  ready.resize(platform.devices.size());
  std::vector<int> devices;
  std::vector<TaskId> begin;
  for (int rank = 0; rank < ranks; ++rank) {
    devices.push_back(rank);
    begin.push_back(out.graph.compute(rank, Seconds{ready[rank]},
                                      out.graph.tag({"ready", TaskClass::kForward}), {}));
  }
  Ring ring(out.graph, network, devices, rules);
  out.result = ring.run(collective, Bytes{size}, out.graph.tag({.name = "collective"}), begin);
  out.timeline = simulate(out.graph, {}, {.record_flows = true});
  return out;
}

// loops x steps x (chunk / rate + latency), loops = ceil(G / (channels n chunk)); all loops full.
inline double closed_form(Collective collective, int ranks, double size, RingRules rules, double latency) {
  if (ranks < 2) return 0;
  const double steps = collective == Collective::kAllReduce ? 2.0 * (ranks - 1) : ranks - 1.0;
  const double loops = std::ceil(size / (rules.channels * ranks * rules.chunk.value));
  return loops * steps * (rules.channels * rules.chunk.value / kRate + latency);
}

}  // namespace slmsim
