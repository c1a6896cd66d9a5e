// Clusters, models and plans with round numbers: GPUs that move 200 B/s of memory, links that take no time
// unless a test slows them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/compute/operator_graph.h"
#include "sim/engine/simulate.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/common/plan.h"
#include "sim/technique/replicas/replicas.h"
#include "tests/named.h"

namespace slmsim {

// The engine's clock is a double that runs on through all simulations of a process.
inline constexpr double kClock = 1e-6;  // s

// `vms` VMs, each at a site of its own with `gpus` GPUs, all sites joined by "wan" links of one pair each.
inline Scenario small_scenario(int vms, int gpus, double rate = 1e15, double device_latency = 0) {
  Scenario scenario;
  Gpu gpu;
  gpu.name = "round";
  gpu.architecture = "Round";
  gpu.multiprocessors = 1;
  gpu.memory = Bytes{1e9};
  gpu.memory_bandwidth = BytesPerSecond{200};
  gpu.peak.fill(FlopsPerSecond{1e30});
  gpu.pcie = BytesPerSecond{rate};
  VmType type;
  type.nic = BytesPerSecond{rate};
  type.peer_to_peer = true;
  type.device_latency = Seconds{device_latency};
  type.tcp = {.receive_buffer = Bytes{1e18},
              .send_buffer = Bytes{1e18},
              .slow_start_after_idle = false,
              .copy_rate = BytesPerSecond{1e18}};
  Platform& platform = scenario.platform;
  for (int vm = 0; vm < vms; ++vm) {
    const std::string name(1, static_cast<char>('a' + vm));
    platform.sites.push_back({name, Seconds{0}, Bytes{1500}});
    platform.vms.push_back({name, vm, type, vm * gpus, gpus});
    for (int i = 0; i < gpus; ++i) platform.devices.push_back({gpu, vm, name + "/" + std::to_string(i)});
    for (int other = 0; other < vm; ++other) {
      const WanDirection way{BytesPerSecond{rate}, Seconds{0}, 0.0};
      platform.links.push_back({"wan", other, vm, way, way, Bytes{1500}});
    }
  }
  scenario.training.batch = 1;
  scenario.software.matrix["Round"] = 1;
  scenario.software.memory = 1;
  scenario.nccl.max_channels = 1;
  scenario.nccl.algorithm = NcclAlgorithm::kRing;
  scenario.nccl.protocol = NcclProtocol::kSimple;
  scenario.nccl.buffer = Bytes{2e12};  // a chunk is half of it: any collective is one loop
  scenario.memory.usable_share = 1;
  return scenario;
}

// h = 16, a = 2, S = 10, V = 100: P = 12 L h^2 + 13 L h + 2 h + (V + S) h = 3280 L + 1792 if tied.
inline Transformer small_model(int layers, bool tied = true) {
  Transformer model;
  model.name = "small";
  model.hidden = 16;
  model.heads = model.kv_heads = 2;
  model.layers = layers;
  model.sequence = 10;
  model.vocabulary = 100;
  model.intermediate = 64;
  model.tied_embedding = tied;
  model.dropout = true;
  return model;
}

// A chain of equal layers that take 1 s forward and 2 s backward per sequence on the GPUs above: they read
// and write 100 elements of 2 B, 200 B at 200 B/s; going back they also read 100 kept elements.
inline OperatorGraph chain(int layers, double weights = 0) {
  OperatorGraph graph;
  for (int layer = 0; layer < layers; ++layer) {
    Operator op{.kind = OperatorKind::kNorm, .role = Role::kAttentionNorm};
    op.layer = layer;
    op.parameters = op.weights = weights;
    op.inputs = op.outputs = 50;
    op.saved_elements = 100;
    boost::add_vertex(op, graph);
  }
  return graph;
}

inline Stage batch_stage(std::size_t first, std::size_t last, std::vector<int> mesh) {
  const std::vector<double> shares(mesh.size(), 1.0 / static_cast<double>(mesh.size()));
  return {first, last, std::move(mesh), std::vector<Division>(last - first, Sharding::kBatch), shares};
}

// Stage s is operator s on device s.
inline Plan pipeline(int stages, int micro_batches, Schedule schedule = Schedule::kOneForwardOneBackward) {
  Plan plan;
  plan.technique = named("Pipeshard");
  plan.micro_batches = micro_batches;
  plan.by = OperatorPlan{.schedule = schedule};
  for (int s = 0; s < stages; ++s) {
    const auto first = static_cast<std::size_t>(s);
    plan.stages.push_back(batch_stage(first, first + 1, {s}));
  }
  return plan;
}

// The plan of a technique on all GPUs.
inline Plan plan_of(const Scenario& scenario, const Transformer& model, const OperatorGraph& operators,
                    TechniqueOptions options) {
  Group group;
  for (int i = 0; i < static_cast<int>(scenario.platform.devices.size()); ++i) group.devices.push_back(i);
  PlanResult result = make_plan({scenario, model, operators, group, options});
  if (!result.plan) throw std::logic_error(result.reason);
  return *result.plan;
}

inline TechniqueOptions with(const Technique* technique, int micro_batches) {
  TechniqueOptions options{technique, {}};
  options.set(kMicroBatches, micro_batches);
  return options;
}

inline TaskGraph lowered(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const Network network(scenario.platform);
  // A plan made by hand need not be any technique's.
  const auto lower = plan.technique ? plan.technique->lower : lower_operators;
  return lower({plan, operators, scenario, network}).graph;
}

// `iterations` iterations as one graph, each after all of the one before it.
inline TaskGraph repeated(const TaskGraph& once, int iterations) {
  TaskGraph all(once.links(), once.device_count());
  for (const Connection& connection : once.connections()) all.add_connection(connection);
  for (const Tag& tag : once.tags()) all.tag(tag);
  TaskId barrier = kNoTask;
  for (int i = 0; i < iterations; ++i) {
    const auto first = static_cast<TaskId>(all.tasks().size());
    std::vector<TaskId> everything;
    for (TaskId id = 0; id < once.tasks().size(); ++id) {
      const Task& task = once.tasks()[id];
      std::vector<TaskId> after;
      for (const TaskId before : once.predecessors(id)) after.push_back(first + before);
      if (after.empty()) after.push_back(barrier);
      everything.push_back(
          task.kind == TaskKind::kCompute    ? all.compute(task.place, Seconds{task.amount}, task.tag, after)
          : task.kind == TaskKind::kTransfer ? all.transfer(task.place, Bytes{task.amount}, task.tag, after)
                                             : all.delay(Seconds{task.amount}, task.tag, after));
    }
    barrier = all.delay(Seconds{0}, 0, everything);
  }
  return all;
}

inline double end_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  return simulate(lowered(plan, operators, scenario)).end.value;
}

// Bytes of all transfers whose label begins so, over links whose name begins so.
inline double bytes_over(const TaskGraph& graph, const std::string& label, const std::string& link = "") {
  double bytes = 0;
  for (const auto& task : graph.tasks()) {
    if (task.kind != TaskKind::kTransfer || graph.tag_of(task).name.rfind(label, 0) != 0) continue;
    const auto& route = graph.connections()[task.place].route;
    bool crosses = link.empty();
    for (const int l : route.links)
      crosses = crosses || graph.links()[l].name.rfind(link, 0) == 0;
    if (crosses) bytes += task.amount;
  }
  return bytes;
}

inline int count_of(const TaskGraph& graph, const std::string& label, TaskKind kind = TaskKind::kTransfer) {
  int count = 0;
  for (const auto& task : graph.tasks()) count += task.kind == kind && graph.tag_of(task).name.rfind(label, 0) == 0;
  return count;
}

}  // namespace slmsim
