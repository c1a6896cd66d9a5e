// Laws of what a change of a figure may change.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/replicas/replicas.h"
#include "tests/random/law.h"

namespace slmsim {
namespace {

constexpr double kSmall = 1e-6;
// Contention may put things into an order that is a little worse (Graham, Bounds on multiprocessing timing anomalies, 1969).
constexpr double kAnomaly = 0.01;
constexpr int kChannels = 8;
constexpr Bytes kWide{1e12};  // no path of a random cluster holds as much

struct Change {
  const char* what;
  bool faster;  // with a factor above 1
  std::function<void(Scenario&, double)> apply;
  bool of_tcp = false;  // without it there is no such figure
};

template <class Of>
auto each_gpu(Of of) {
  return [of](Scenario& s, double factor) {
    for (auto& device : s.platform.devices) of(device.gpu) = of(device.gpu) * factor;
  };
}

template <class Of>
auto each_vm(Of of) {
  return [of](Scenario& s, double factor) {
    for (auto& vm : s.platform.vms) of(vm.type) = of(vm.type) * factor;
  };
}

template <class Of>
auto each_link(Of of) {
  return [of](Scenario& s, double factor) {
    for (auto& link : s.platform.links) {
      of(link.forward) = of(link.forward) * factor;
      of(link.backward) = of(link.backward) * factor;
    }
  };
}

const std::vector<Change>& changes() {
  static const std::vector<Change> kChanges = {
      {"GPUs' peak", true,
       [](Scenario& s, double factor) {
         for (auto& device : s.platform.devices) {
           for (auto& peak : device.gpu.peak) peak = peak * factor;
         }
       }},
      {"GPUs' memory bandwidth", true, each_gpu([](Gpu & g) -> auto& { return g.memory_bandwidth; })},
      {"PCIe", true, each_gpu([](Gpu & g) -> auto& { return g.pcie; })},
      {"NVLink", true, each_gpu([](Gpu & g) -> auto& { return g.nvlink; })},
      {"GPUs' memory", true, each_gpu([](Gpu & g) -> auto& { return g.memory; })},
      {"clocks within limits of power", true, each_gpu([](Gpu & g) -> auto& { return g.left.cores; })},
      {"NICs", true, each_vm([](VmType & v) -> auto& { return v.nic; })},
      {"sockets' copy rate", true, each_vm([](VmType & v) -> auto& { return v.tcp.copy_rate; }), true},
      {"receive buffers", true, each_vm([](VmType & v) -> auto& { return v.tcp.receive_buffer; }), true},
      {"send buffers", true, each_vm([](VmType & v) -> auto& { return v.tcp.send_buffer; }), true},
      {"device latency", false, each_vm([](VmType & v) -> auto& { return v.device_latency; })},
      {"links' bandwidth", true, each_link([](WanDirection & d) -> auto& { return d.bandwidth; })},
      {"links' delay", false, each_link([](WanDirection & d) -> auto& { return d.delay; })},
      {"links' loss", false,
       [](Scenario& s, double factor) {
         for (auto& link : s.platform.links) {
           link.forward.loss = std::min(0.5, link.forward.loss * factor);
           link.backward.loss = std::min(0.5, link.backward.loss * factor);
         }
       }},
      {"one link's delay", false,
       [](Scenario& s, double factor) {
         if (s.platform.links.empty()) return;
         s.platform.links.front().forward.delay = s.platform.links.front().forward.delay * factor;
         s.platform.links.front().backward.delay = s.platform.links.front().backward.delay * factor;
       }},
      {"one GPU's peak", true,
       [](Scenario& s, double factor) {
         for (auto& peak : s.platform.devices.back().gpu.peak) peak = peak * factor;
       }},
      {"sites' RTT", false,
       [](Scenario& s, double factor) {
         for (auto& site : s.platform.sites) site.rtt = site.rtt * factor;
       }},
  };
  return kChanges;
}

bool same_plans(const Plan& p, const Plan& q) {
  return std::equal(p.stages.begin(), p.stages.end(), q.stages.begin(), q.stages.end(),
                    [](const Stage& x, const Stage& y) {
                      return x.first == y.first && x.last == y.last && x.shardings == y.shardings &&
                             x.batch_shares == y.batch_shares && x.columns == y.columns;
                    });
}

}  // namespace

// Planners choose by their own costs, which are no simulation, and otherwise where GPUs that were alike no longer are: only
// what is simulated of the same plan is held to the law.
void small_changes_stay_small(const RandomCase& drawn, CaseDice& dice, Faults& faults) {
  const Change& change = dice.of(changes());
  const double factor = dice.one_in(2) ? 1 + kSmall : 1 - kSmall;
  Scenario changed = drawn.scenario;
  change.apply(changed, factor);
  const auto again = predicted(changed);
  for (std::size_t i = 0; i < again.size(); ++i) {
    const Prediction &p = drawn.predictions[i], &q = again[i];
    if (p.status != Status::kOk || q.status != Status::kOk) continue;  // what just fits may no longer
    if (!same_plans(*p.plan, *q.plan)) continue;
    const double moved = std::max(relative(p.iteration.value, q.iteration.value), relative(p.job.value, q.job.value));
    if (moved > known_to_within(p, q))
      faults.push_back(fmt::format("{}: {} x (1 {:+g}): {:.6g} -> {:.6g} s, job {:.6g} -> {:.6g} s: {:.2f} %", which(p),
                                   change.what, factor - 1, p.iteration.value, q.iteration.value, p.job.value,
                                   q.job.value, 100 * moved));
  }
}

// Compares predictions of the same plan, each known to within its spread.
bool is_slower(const Prediction& was, const Prediction& now) {
  return was.plan && now.plan && same_plans(*was.plan, *now.plan) &&
         now.iteration.value > was.iteration.value * (1 + kAnomaly + was.spread + now.spread);
}

// Without TCP's windows; or, where a figure of TCP's changed, with such that cover any path, outlive any pause, and close for no
// loss.
void calm(const Change& change, Scenario& scenario) {
  for (auto& vm : scenario.platform.vms) {
    vm.type.rdma = vm.type.rdma || !change.of_tcp;
    vm.type.tcp.receive_buffer = vm.type.tcp.send_buffer = kWide;
    vm.type.tcp.slow_start_after_idle = false;
  }
  for (auto& link : scenario.platform.links) link.forward.loss = link.backward.loss = 0;
}

// The mechanisms that may make more of something slower: NCCL's tuning, blind to the network, chooses another algorithm or
// protocol, or channels that hold multiprocessors, so that it is fixed here; planners choose by their own costs, which are no
// simulation, so that the plans must be equal; and where windows bind, what comes faster queues before a link, where
// acknowledgements wait and with them the windows of the other direction, and what ends earlier may pause for so long that its
// window begins anew. So what is slower must be slower without these two as well.
void more_is_not_slower(const RandomCase& drawn, CaseDice& dice, Faults& faults) {
  const Change& change = dice.of(changes());
  const double by = dice.of(std::vector{1.1, 2.0, 10.0});
  Scenario before = drawn.scenario;
  if (before.nccl.algorithm == NcclAlgorithm::kAuto) before.nccl.algorithm = NcclAlgorithm::kRing;
  if (before.nccl.protocol == NcclProtocol::kAuto) before.nccl.protocol = NcclProtocol::kSimple;
  before.nccl.max_channels = std::min(before.nccl.max_channels, kChannels);
  before.nccl.min_channels = before.nccl.max_channels;
  Scenario after = before;
  change.apply(after, change.faster ? by : 1 / by);
  const auto was = predicted(before), now = predicted(after);
  std::optional<std::vector<Prediction>> calm_was, calm_now;
  for (std::size_t i = 0; i < was.size(); ++i) {
    const Prediction &p = was[i], &q = now[i];
    if (p.status != Status::kOk) continue;
    if (q.plan && !same_plans(*p.plan, *q.plan)) continue;
    if (q.status != Status::kOk) {
      faults.push_back(fmt::format("{}: {} x {}: no longer ok: {}", which(p), change.what, by, q.reason));
      continue;
    }
    if (!is_slower(p, q)) continue;
    if (!calm_was) {
      calm(change, before);
      calm(change, after);
      calm_was = predicted(before);
      calm_now = predicted(after);
    }
    const Prediction &calm_p = (*calm_was)[i], &calm_q = (*calm_now)[i];
    if (!is_slower(calm_p, calm_q)) continue;
    faults.push_back(
        fmt::format("{}: {} better by {}: {:.6g} -> {:.6g} s: {:+.1f} %; without windows {:.6g} -> {:.6g} s", which(p),
                    change.what, by, p.iteration.value, q.iteration.value,
                    100 * (q.iteration.value / p.iteration.value - 1), calm_p.iteration.value, calm_q.iteration.value));
  }
}

}  // namespace slmsim
