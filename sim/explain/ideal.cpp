#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "sim/base/work.h"
#include "sim/compute/operator_graph.h"
#include "sim/explain/limits.h"
#include "sim/predict/alike.h"
#include "sim/predict/iterations.h"

namespace slmsim {
namespace {

constexpr double kUnlimited = 1e18;  // B and B/s
constexpr BytesPerSecond kAnyRate{kUnlimited};
constexpr int kWidestInitial = 1 << 30;
constexpr std::size_t kTheirOwn = 16;  // up to this number, VMs or links are idealised one by one

void without_loss(IdealCase& c) {
  for (auto& link : c.network.links) link.forward.loss = link.backward.loss = 0;
}
void with_wide_buffers(IdealCase& c) {
  for (auto& vm : c.network.vms) vm.type.tcp.receive_buffer = vm.type.tcp.send_buffer = Bytes{kUnlimited};
}
void without_slow_start(IdealCase& c) {
  for (auto& vm : c.network.vms) {
    vm.type.tcp.initial_window = kWidestInitial;
    vm.type.tcp.slow_start_after_idle = false;
  }
}

void with_fast_nic(IdealCase& c, std::size_t vm) { c.network.vms[vm].type.nic = kAnyRate; }
void with_fast_bus(IdealCase& c, std::size_t vm) {
  for (auto& device : c.network.devices) {
    if (static_cast<std::size_t>(device.vm) != vm) continue;
    device.gpu.pcie = device.gpu.nvlink = kAnyRate;
    MeasuredBuses& measured = device.gpu.buses;
    for (BytesPerSecond* rate : {&measured.to_device, &measured.from_device, &measured.peer}) {
      if (rate->value > 0) *rate = kAnyRate;
    }
  }
}

Ideal timeless(const std::string& name, const std::string& what, std::vector<TaskClass> classes) {
  return {.name = name, .what = what, .apply = [classes = std::move(classes)](IdealCase& c) {
            c.timeless.insert(c.timeless.end(), classes.begin(), classes.end());
          }};
}

}  // namespace

IdealRuns::IdealRuns(const Scenario& scenario, const Transformer& model, const Plan& plan)
    : scenario_(scenario),
      plan_(plan),
      operators_(std::make_shared<OperatorGraph>(build_operator_graph(model))),
      graph_(plan.technique->lower({plan, *operators_, scenario, Network(scenario.platform)}).graph),
      folded_(lowered(unchanged())) {
  used_.resize(graph_.links().size());
  for (const auto& connection : graph_.connections()) {
    for (const int link : connection.route.links) used_[link] = true;
  }
  list();
}

TaskGraph IdealRuns::lowered(const IdealCase& changed) const {
  const Network network(changed.network);
  LowerRequest request{plan_, *operators_, changed.scenario, network};
  request.hosts_apart = true;  // without its GPU's time a pass takes its host's
  return lower_alike(request).graph;
}

Seconds IdealRuns::simulated(const Ideals& ideals) const {
  IdealCase changed = unchanged();
  for (const Ideal* ideal : ideals) ideal->apply(changed);
  const bool as_it_is = changed.network == scenario_.platform && changed.scenario.platform == scenario_.platform &&
                        changed.scenario.framework == scenario_.framework;
  TaskGraph graph = as_it_is ? folded_ : lowered(changed);
  for (const TaskClass of : changed.timeless) graph.scale(of, 0);
  if (std::ranges::any_of(ideals, [](const Ideal* one) { return one->without_latency; })) graph.remove_latency();
  return simulate_iterations(graph).steady() / plan_.workload.steps;
}

Seconds IdealRuns::with(const Ideals& ideals) {
  const auto [at, is_new] = known_.try_emplace({ideals.begin(), ideals.end()});
  if (is_new) at->second = simulated(ideals);
  return at->second;
}

// Threads rather than processes: lowering and simulating are functions of values, and SimGrid is not used.
void IdealRuns::prepare(const std::vector<Ideals>& sets) {
  std::vector<const Ideals*> open;
  for (const Ideals& ideals : sets) {
    if (known_.try_emplace({ideals.begin(), ideals.end()}).second) open.push_back(&ideals);
  }
  std::vector<Seconds> times(open.size());
  in_parallel(open.size(), std::max(1u, std::thread::hardware_concurrency()),
              [&](std::size_t i) { times[i] = simulated(*open[i]); });
  for (std::size_t i = 0; i < open.size(); ++i) known_[{open[i]->begin(), open[i]->end()}] = times[i];
}

bool IdealRuns::concerns(const Ideal& ideal) const {
  IdealCase changed = unchanged();
  ideal.apply(changed);
  const Network now(scenario_.platform), then(changed.network);
  for (std::size_t link = 0; link < used_.size(); ++link) {
    if (used_[link] && now.links()[link].bandwidth < then.links()[link].bandwidth) return true;
  }
  return false;
}

bool IdealRuns::add_rate(Ideal ideal) {
  if (!concerns(ideal)) return false;
  add(std::move(ideal));
  return true;
}

void IdealRuns::list() {
  list_computation();
  list_transport();
  list_links();
  list_machines();
  list_insides();
}

void IdealRuns::list_computation() {
  const Training& t = scenario_.training;
  add(timeless("GPU", "forward and backward passes take no time", {TaskClass::kForward, TaskClass::kBackward}));
  const auto& devices = scenario_.platform.devices;
  if (std::ranges::any_of(devices, [](const Device& d) { return d.gpu.left.cores < 1; }))
    add({.name = "power", .what = "no GPU's power is limited", .whole = "GPU", .apply = [](IdealCase& c) {
           for (Device& device : c.scenario.platform.devices) device.gpu.left = device.gpu.left_of_measured = {};
         }});
  add(timeless("optimizer", "the optimizer takes no time", {TaskClass::kOptimizer}));
  add(timeless("buffers of collectives", "collectives use gradients and parameters in place, without copies",
               {TaskClass::kBuffer}));
  add(timeless("host", "launching kernels takes the host no time", {TaskClass::kHost}));
  add(timeless("launch",
               fmt::format("launching takes no time (now {} and {:g} round trips to the farthest VM)",
                           to_text(t.iteration_overhead), t.control_round_trips),
               {TaskClass::kLaunch, TaskClass::kFramework}));
  add(timeless("NCCL", "NCCL's kernels keep up with any link", {TaskClass::kKernels}));
}

void IdealRuns::list_transport() {
  const auto& connections = graph_.connections();
  const bool sockets = std::ranges::any_of(connections, [](const auto& c) { return c.route.socket_rate.value > 0; });
  if (sockets) {
    add({.name = "window", .what = "TCP windows are unlimited from the first byte on", .apply = [](IdealCase& c) {
           without_loss(c), with_wide_buffers(c), without_slow_start(c);
         }});
    add({.name = "buffers",
         .what = "net.ipv4.tcp_rmem and tcp_wmem are unlimited; loss and slow start remain",
         .whole = "window",
         .apply = with_wide_buffers});
    add({.name = "loss", .what = "no segment is lost", .whole = "window", .apply = without_loss});
    for (std::size_t i = 0; i < scenario_.platform.links.size(); ++i) {
      const WanLink& link = scenario_.platform.links[i];
      const auto& sites = scenario_.platform.sites;
      const auto direction = [&](const WanDirection& of, WanDirection WanLink::*way, int from, int to) {
        if (of.loss <= 0 || scenario_.platform.links.size() > kTheirOwn) return;
        const std::string ends = fmt::format("{} to {}", sites[from].name, sites[to].name);
        add({.name = "loss, " + ends,
             .what = fmt::format("no segment is lost on {} from {}", link.name, ends),
             .whole = "loss",
             .apply = [i, way](IdealCase& c) { (c.network.links[i].*way).loss = 0; }});
      };
      direction(link.forward, &WanLink::forward, link.from, link.to);
      direction(link.backward, &WanLink::backward, link.to, link.from);
    }
    add({.name = "slow start",
         .what = "windows have their steady size from the first byte on, also after a pause",
         .whole = "window",
         .apply = without_slow_start});
    add({.name = "sockets", .what = "the rate of a thread through a socket is unlimited", .apply = [](IdealCase& c) {
           for (auto& vm : c.network.vms) vm.type.tcp.copy_rate = kAnyRate;
         }});
  }
  add({.name = "latency", .what = "messages have no latency", .apply = [](IdealCase&) {}, .without_latency = true});
}

void IdealRuns::list_links() {
  const Platform& platform = scenario_.platform;
  for (std::size_t i = 0; i < platform.links.size(); ++i) {
    const WanLink& link = platform.links[i];
    const bool known = add_rate({.name = link.name,
                                 .what = fmt::format("{} has unlimited bandwidth in both directions", link.name),
                                 .apply = [i](IdealCase& c) {
                                   c.network.links[i].forward.bandwidth = kAnyRate;
                                   c.network.links[i].backward.bandwidth = kAnyRate;
                                 }});
    if (!known || platform.links.size() > kTheirOwn) continue;
    const auto direction = [&](WanDirection WanLink::*way, int from, int to) {
      const std::string ends = fmt::format("{} to {}", platform.sites[from].name, platform.sites[to].name);
      add_rate({.name = fmt::format("{}, {}", link.name, ends),
                .what = fmt::format("{} has unlimited bandwidth from {}", link.name, ends),
                .whole = link.name,
                .apply = [i, way](IdealCase& c) { (c.network.links[i].*way).bandwidth = kAnyRate; }});
    };
    direction(&WanLink::forward, link.from, link.to);
    direction(&WanLink::backward, link.to, link.from);
  }
}

void IdealRuns::list_machines() {
  const auto& vms = scenario_.platform.vms;
  const auto each = [&](const std::string& kind, const std::string& of_one, const std::string& of_all, auto change) {
    const bool known = add_rate({.name = kind,
                                 .what = of_all,
                                 .apply =
                                     [change, n = vms.size()](IdealCase& c) {
                                       for (std::size_t i = 0; i < n; ++i) change(c, i);
                                     },
                                 .only_together = true});
    for (std::size_t i = 0; known && i < vms.size() && vms.size() <= kTheirOwn; ++i) {
      add_rate({.name = kind + ":" + vms[i].name,
                .what = fmt::format(fmt::runtime(of_one), vms[i].name),
                .whole = kind,
                .apply = [change, i](IdealCase& c) { change(c, i); }});
    }
  };
  each("nic", "the NIC of {} is unlimited", "NICs of all VMs are unlimited", with_fast_nic);
  each("pcie", "PCIe and NVLink of {} are unlimited", "PCIe and NVLink of all VMs are unlimited", with_fast_bus);
}

// Nodes that describe their inside: every kind of link, drives and the CPU's Adam.
void IdealRuns::list_insides() {
  std::set<std::string> kinds;
  bool drives = false, memories = false;
  for (const auto& vm : scenario_.platform.vms) {
    for (const auto& link : vm.type.inside.links) kinds.insert(link.interconnect);
    drives = drives || !vm.type.inside.volumes.empty();
    memories = memories || !vm.type.inside.of_kind(PartKind::kMemory).empty();
  }
  for (const std::string& kind : kinds) {
    add_rate({.name = kind,
              .what = fmt::format("{} is unlimited in all nodes, and so are transfers across a die to it", kind),
              .apply = [kind](IdealCase& c) {
                for (auto& vm : c.network.vms) {
                  for (auto& one : vm.type.inside.links) {
                    if (one.interconnect == kind) one.peak = kAnyRate;
                  }
                  for (auto& one : vm.type.inside.crossings) {
                    if (one.first == kind || one.second == kind) one.rate = kAnyRate;
                  }
                }
              }});
  }
  if (drives) {
    add({.name = "drives", .what = "drives have unlimited bandwidth and no command latency", .apply = [](IdealCase& c) {
           for (Platform* platform : {&c.network, &c.scenario.platform}) {
             for (auto& vm : platform->vms) {
               for (auto& part : vm.type.inside.parts) part.read = part.write = kAnyRate, part.command = Seconds{0};
             }
           }
         }});
    add({.name = "swapping",
         .what = "asynchronous I/O has unlimited bandwidth, also tensor by tensor",
         .apply = [](IdealCase& c) { c.scenario.framework.swap_rate = kAnyRate; }});
  }
  const auto& connections = graph_.connections();
  const bool on_host = std::ranges::any_of(
      connections, [](const Connection& connection) { return connection.traffic == Traffic::kHostOptimizer; });
  if (!memories && !on_host) return;
  add({.name = "CPU", .what = "the CPU's Adam is limited by host memory alone", .apply = [](IdealCase& c) {
         c.scenario.framework.cpu_adam_rate = kAnyRate;
       }});
}

}  // namespace slmsim
