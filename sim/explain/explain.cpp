#include "sim/explain/explain.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/explain/what_if.h"
#include "sim/lower/lower.h"
#include "sim/predict/iterations.h"
#include "sim/technique/technique.h"

namespace slmsim {
namespace {

constexpr double kLeast = 0.01;      // of an iteration: what gives back less is not told
constexpr double kUnlimited = 1e18;  // B and B/s
constexpr int kWidestInitial = 1 << 30;

// One technique with its plan, and what an iteration takes if something is changed.
class Case {
 public:
  Case(const Scenario& scenario, const Transformer& model, Explanation& out)
      : scenario_(scenario), operators_(build_operator_graph(model)), out_(out) {}

  void find_limits() {
    const TaskGraph graph = lowered(scenario_);
    const IterationTimes times = simulate_iterations(graph);
    iteration_ = times.steady() / steps();
    out_.latencies = latencies_of(graph, times.last, critical_path(graph, times.last));
    for (const auto& connection : graph.connections()) {
      used_links_.insert(connection.route.links.begin(), connection.route.links.end());
      sockets_ = sockets_ || connection.route.socket_rate.value > 0;
    }
    computations(graph);
    without(graph, {TaskClass::kKernels}, "NCCL", "NCCL's kernels keep up with any link");
    if (sockets_) windows();
    bandwidths();
    latency();
    add("bubble", "no stage waits for another, as with ever more micro-batches",
        iteration_ - out_.prediction.breakdown.pipeline_bubble);
    std::stable_sort(out_.limits.begin(), out_.limits.end(),
                     [](const Limit& a, const Limit& b) { return a.given_back > b.given_back; });
  }

 private:
  TaskGraph lowered(const Scenario& scenario, const Platform& platform) const {
    const Plan& plan = *out_.prediction.plan;
    return plan.technique->lower({plan, operators_, scenario, Network(platform)}).graph;
  }
  TaskGraph lowered(const Scenario& scenario) const { return lowered(scenario, scenario.platform); }

  // A graph is of a round, times are told of its mean step.
  double steps() const { return out_.prediction.plan->workload.steps; }
  Seconds iteration_of(const TaskGraph& graph) const { return simulate_iterations(graph).steady() / steps(); }

  bool add(const std::string& name, const std::string& what, Seconds iteration) {
    const Seconds back = iteration_ - iteration;
    if (back <= iteration_ * kLeast) return false;
    out_.limits.push_back({name, what, back});
    return true;
  }

  void without(const TaskGraph& graph, std::initializer_list<TaskClass> classes, const std::string& name,
               const std::string& what) {
    TaskGraph ideal = graph;
    for (const TaskClass of : classes) ideal.scale(of, 0);
    add(name, what, iteration_of(ideal));
  }

  void computations(const TaskGraph& graph) {
    const Training& t = scenario_.training;
    without(graph, {TaskClass::kForward, TaskClass::kBackward}, "GPU", "forward and backward passes take no time");
    without(graph, {TaskClass::kOptimizer}, "optimizer", "Adam takes no time");
    without(graph, {TaskClass::kHost}, "host", "launching kernels takes the host no time");
    without(graph, {TaskClass::kLaunch, TaskClass::kFramework}, "launch",
            fmt::format("launching takes no time (now {} and {:g} round trips to the farthest VM)",
                        to_text(t.iteration_overhead), t.control_round_trips));
  }

  // `change` is made to a copy of the platform. Only the network sees it: NCCL and the GPUs remain as they are.
  template <class Change>
  bool changed(const std::string& name, const std::string& what, Change change) {
    Platform platform = scenario_.platform;
    change(platform);
    return add(name, what, iteration_of(lowered(scenario_, platform)));
  }

  static void without_loss(Platform& platform) {
    for (auto& link : platform.links) link.forward.loss = link.backward.loss = 0;
  }
  static void with_wide_buffers(Platform& platform) {
    for (auto& vm : platform.vms) vm.type.tcp.receive_buffer = vm.type.tcp.send_buffer = Bytes{kUnlimited};
  }
  static void without_slow_start(Platform& platform) {
    for (auto& vm : platform.vms) {
      vm.type.tcp.initial_window = kWidestInitial;
      vm.type.tcp.slow_start_after_idle = false;
    }
  }
  static void without_windows(Platform& platform) {
    without_loss(platform);
    with_wide_buffers(platform);
    without_slow_start(platform);
  }

  void windows() {
    if (changed("window", "TCP lets any number of bytes be on their way, from the first one on", without_windows)) {
      changed("buffers", "net.ipv4.tcp_rmem and tcp_wmem are without limit; loss and slow start remain",
              with_wide_buffers);
      changed("loss", "no segment is lost", without_loss);
      changed("slow start", "windows are steady from the first byte on, also after a pause", without_slow_start);
    }
    changed("sockets", "a thread moves any number of bytes per second through a socket", [](Platform& p) {
      for (auto& vm : p.vms) vm.type.tcp.copy_rate = BytesPerSecond{kUnlimited};
    });
  }

  // A window that must wait for acknowledgements hides what the messages themselves wait for: so both are without.
  void latency() {
    Platform platform = scenario_.platform;
    without_windows(platform);
    TaskGraph graph = lowered(scenario_, platform);
    const Seconds with = iteration_of(graph);
    graph.remove_latency();
    const PathLatencies& l = out_.latencies;
    add("latency",
        fmt::format(
            "messages take no time on their way, beside the window ({} latencies between VMs and {} inside on the "
            "critical path: {})",
            l.between_vms, l.inside_vms, to_text(l.sum)),
        iteration_ - (with - iteration_of(graph)));
  }

  // Whether a change of the platform makes a link faster that this case uses.
  bool concerns(const Platform& changed) const {
    const Network now(scenario_.platform), then(changed);
    return std::any_of(used_links_.begin(), used_links_.end(), [&](int link) {
      const auto at = static_cast<std::size_t>(link);
      return now.links()[at].bandwidth < then.links()[at].bandwidth;
    });
  }

  template <class Change>
  bool link(const std::string& name, const std::string& what, Change change) {
    Platform platform = scenario_.platform;
    change(platform);
    return concerns(platform) && add(name, what, iteration_of(lowered(scenario_, platform)));
  }

  void bandwidths() {
    constexpr std::size_t kTheirOwn = 16;  // so many VMs are looked at one by one
    for (std::size_t i = 0; i < scenario_.platform.links.size(); ++i) {
      const std::string& name = scenario_.platform.links[i].name;
      link(name, fmt::format("{} carries any number of bytes per second, both ways", name), [&](Platform& p) {
        p.links[i].forward.bandwidth = p.links[i].backward.bandwidth = BytesPerSecond{kUnlimited};
      });
    }
    const auto nic = [](Platform& p, std::size_t vm) { p.vms[vm].type.nic = BytesPerSecond{kUnlimited}; };
    const auto bus = [](Platform& p, std::size_t vm) {
      for (auto& device : p.devices) {
        if (static_cast<std::size_t>(device.vm) != vm) continue;
        device.gpu.pcie = device.gpu.nvlink = BytesPerSecond{kUnlimited};
        MeasuredBuses& measured = device.gpu.buses;
        for (BytesPerSecond* rate : {&measured.to_device, &measured.from_device, &measured.peer}) {
          if (rate->value > 0) *rate = BytesPerSecond{kUnlimited};
        }
      }
    };
    const auto each = [&](const std::string& kind, const std::string& text, auto change) {
      const auto& vms = scenario_.platform.vms;
      bool any = false;
      for (std::size_t i = 0; i < vms.size() && vms.size() <= kTheirOwn; ++i) {
        any = link(kind + ":" + vms[i].name,
                   fmt::format("{} of {} {} without limit", text, vms[i].name, kind == "nic" ? "is" : "are"),
                   [&](Platform& p) { change(p, i); }) ||
              any;
      }
      // Where two VMs are alike, making one of them faster may give nothing back.
      if (any) return;
      link(kind, fmt::format("{} of all VMs are without limit", kind == "nic" ? "NICs" : text), [&](Platform& p) {
        for (std::size_t i = 0; i < vms.size(); ++i) change(p, i);
      });
    };
    each("nic", "the NIC", nic);
    each("pcie", "PCIe and NVLink", bus);
    insides();
  }

  // Of nodes that describe their inside: every kind of link, and what drives and the CPU's Adam do.
  void insides() {
    std::set<std::string> kinds;
    bool drives = false, memories = false;
    for (const auto& vm : scenario_.platform.vms) {
      for (const auto& link : vm.type.inside.links) kinds.insert(link.interconnect);
      drives = drives || !vm.type.inside.volumes.empty();
      memories = memories || !vm.type.inside.of_kind(PartKind::kMemory).empty();
    }
    for (const std::string& kind : kinds) {
      link(kind, fmt::format("{} is without limit in all nodes, and so is what crosses a die to it", kind),
           [&](Platform& p) {
             for (auto& vm : p.vms) {
               for (auto& one : vm.type.inside.links) {
                 if (one.interconnect == kind) one.peak = BytesPerSecond{kUnlimited};
               }
               for (auto& one : vm.type.inside.crossings) {
                 if (one.first == kind || one.second == kind) one.rate = BytesPerSecond{kUnlimited};
               }
             }
           });
    }
    if (drives) {
      changed("drives", "drives read and write any number of bytes per second", [](Platform& p) {
        for (auto& vm : p.vms) {
          for (auto& part : vm.type.inside.parts) part.read = part.write = BytesPerSecond{kUnlimited};
        }
      });
    }
    if (!memories) return;
    Scenario fast = scenario_;
    fast.framework.cpu_adam_rate = BytesPerSecond{kUnlimited};
    add("CPU", "the CPU's Adam is limited by host memory alone", iteration_of(lowered(fast)));
  }

  const Scenario& scenario_;
  OperatorGraph operators_;
  Explanation& out_;
  Seconds iteration_;
  std::set<int> used_links_;
  bool sockets_ = false;
};

class Changes {
 public:
  Changes(const Scenario& scenario, const Reload& reload) : scenario_(scenario), reload_(reload) {}

  void try_all(std::size_t model, std::size_t group, std::size_t technique, Explanation& out) {
    if (!reload_) return;
    const Prediction& now = out.prediction;
    for (const auto& set : changes_to_try(scenario_, now, scenario_.groups[group])) {
      const auto& changed = loaded(set);
      if (!changed) continue;
      Scenario one = *changed;
      one.models = {changed->models[model]};
      one.groups = {changed->groups[group]};
      one.techniques = {changed->techniques[technique]};
      const Prediction then = predict(one).front();
      if (then.status == Status::kOk && now.iteration - then.iteration >= now.iteration * kLeast)
        out.what_ifs.push_back({set, then.iteration, then.job});
    }
    std::stable_sort(out.what_ifs.begin(), out.what_ifs.end(),
                     [](const WhatIf& a, const WhatIf& b) { return a.iteration < b.iteration; });
  }

 private:
  const std::optional<Scenario>& loaded(const Overrides& set) {
    const auto [at, is_new] = loaded_.try_emplace(set);
    if (is_new) at->second = reload_(set);
    return at->second;
  }

  const Scenario& scenario_;
  const Reload& reload_;
  std::map<Overrides, std::optional<Scenario>> loaded_;
};

std::string advice_of(const Explanation& e) {
  if (e.limits.empty()) return "Nothing limits it.";
  const Limit& first = e.limits.front();
  const Seconds iteration = e.prediction.iteration;
  const std::string limit =
      fmt::format("Limited most by {}, {:.0f} % of the time", first.name, 100 * (first.given_back / iteration));
  if (e.what_ifs.empty()) return limit + "; none of the settings tried helps.";
  const WhatIf& best = e.what_ifs.front();
  return fmt::format("{}; of the settings tried --set {} helps most: {} in place of {}.", limit,
                     fmt::join(best.set, " --set "), to_text(best.iteration), to_text(iteration));
}

}  // namespace

std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options) {
  std::vector<Explanation> out;
  Changes changes(scenario, options.reload);
  std::vector<std::size_t> techniques;
  for (std::size_t i = 0; i < scenario.techniques.size(); ++i) {
    if (!options.only || options.only == scenario.techniques[i].technique) techniques.push_back(i);
  }
  const auto predictions = predict(scenario, {.only = options.only});
  for (std::size_t m = 0; m < scenario.models.size(); ++m) {
    for (std::size_t g = 0; g < scenario.groups.size(); ++g) {
      for (const std::size_t t : techniques) {
        Explanation e;
        e.prediction = predictions[out.size()];
        if (e.prediction.status == Status::kOk) {
          Case(scenario, scenario.models[m], e).find_limits();
          changes.try_all(m, g, t, e);
          e.advice = advice_of(e);
        }
        out.push_back(std::move(e));
        if (options.on_progress) options.on_progress(out.size(), predictions.size());
      }
    }
  }
  return out;
}

}  // namespace slmsim
