// Laws of memory and of what is simulated.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/engine/loss_rate.h"
#include "sim/engine/simulate.h"
#include "tests/random/law.h"

namespace slmsim {
namespace {

constexpr double kAgree = 1e-5;                    // relative, of two engines
constexpr double kTie = 1e-12, kCoarseTie = 1e-8;  // relative, of dates that rounding may put into another order
constexpr int kMostTieTrials = 240;
constexpr std::size_t kMostTasks = 60'000;  // of a graph that is simulated in several ways

Bytes most_memory(const Prediction& p) {
  Bytes most{0};
  for (const auto& memory : p.memory) most = std::max(most, memory.total());
  return most;
}

// Planned only: times do not matter.
std::vector<Prediction> misfits_too(Scenario scenario) {
  for (auto& device : scenario.platform.devices) device.gpu.memory = Bytes{1};
  return predicted(scenario);
}

void each_graph(const RandomCase& drawn, const auto& use) {
  for (const Prediction& p : drawn.predictions) {
    if (p.status != Status::kOk) continue;
    const auto model = std::find_if(drawn.scenario.models.begin(), drawn.scenario.models.end(),
                                    [&](const Transformer& m) { return m.name == p.model; });
    const TaskGraph graph = iteration_graph(drawn.scenario, *model, *p.plan);
    if (graph.tasks().size() <= kMostTasks) use(p, graph);
  }
}

bool is_within(const std::pair<double, double>& ends, double end) {
  return end >= ends.first * (1 - kAgree) && end <= ends.second * (1 + kAgree);
}

// Effect of the order of dates that are equal, or nearly so: SimGrid adds the dates of its clock up in another order, so
// that a task that ends with an acknowledgement ends before or after it. Least and most by events over figures that differ by
// rounding alone: trials are added until SimGrid's end lies between them. One end of N + 1 equally likely ones is the
// least or the most in 2 of N + 1 draws, so that few trials would call every tenth of such graphs broken.
std::pair<double, double> by_ties(const Scenario& scenario, const TaskGraph& graph, double engine, CaseDice& dice) {
  std::pair<double, double> ends{INFINITY, 0};
  for (int trial = 0; trial < kMostTieTrials && !is_within(ends, engine); ++trial) {
    const double by = trial % 2 == 0 ? kTie : kCoarseTie;
    const auto moved = [&](auto& figure) { figure = figure * (1 + by * (2 * dice.share() - 1)); };
    Platform platform = scenario.platform;
    for (auto& link : platform.links) {
      for (WanDirection* way : {&link.forward, &link.backward}) moved(way->bandwidth), moved(way->delay);
    }
    for (auto& vm : platform.vms) moved(vm.type.nic), moved(vm.type.device_latency);
    for (auto& site : platform.sites) moved(site.rtt);
    for (auto& device : platform.devices) moved(device.gpu.pcie), moved(device.gpu.nvlink);
    TaskGraph other = graph;
    other.move_to(Network(platform));
    // Links inside a machine are as they were: so what passes there takes longer or less long, connection by connection.
    std::vector<double> factors(graph.connections().size());
    for (double& factor : factors) factor = 1 + by * (2 * dice.share() - 1);
    other.scale_transfers(factors);
    other.scale_computations([&](int, std::size_t, std::size_t) { return 1 + by * (2 * dice.share() - 1); });
    const double one = simulate(other).end.value;
    ends = {std::min(ends.first, one), std::max(ends.second, one)};
  }
  return ends;
}

}  // namespace

void memory_follows_its_laws(const RandomCase& drawn, CaseDice&, Faults& faults) {
  const auto compare = [&](const char* what, const std::vector<Prediction>& less, const std::vector<Prediction>& more) {
    for (std::size_t i = 0; i < less.size(); ++i) {
      if (less[i].memory.empty() || more[i].memory.empty()) continue;
      // Where the batch is split by speed, deeper models may be split otherwise.
      if (less[i].plan->stages.front().batch_shares != more[i].plan->stages.front().batch_shares) continue;
      if (most_memory(less[i]) > most_memory(more[i]) * (1 + 1e-9))
        faults.push_back(fmt::format("{}: {}: {:.6g} B, without {:.6g} B", which(less[i]), what,
                                     most_memory(less[i]).value, most_memory(more[i]).value));
    }
  };
  // The planners may divide otherwise where less is kept: only techniques that do not ask them.
  Scenario kept = drawn.scenario;
  kept.training.rematerialisation = false;
  std::erase_if(kept.techniques,
                [](const TechniqueOptions& o) { return !o.technique->divides_batch || o.get(kRecompute); });
  if (kept.techniques.empty()) return;
  Scenario again = kept, deep = kept;
  again.training.rematerialisation = true;
  for (auto& model : deep.models) model.layers *= 2;
  // A single layer is computed anew as a whole, so that keeping its input only adds to it.
  std::erase_if(again.models, [](const Transformer& m) { return m.layers < 2; });
  Scenario several = kept;
  several.models = again.models;
  compare("rematerialisation", misfits_too(again), misfits_too(several));
  compare("half the layers", misfits_too(kept), misfits_too(deep));
}

void bytes_are_conserved(const RandomCase& drawn, CaseDice&, Faults& faults) {
  each_graph(drawn, [&](const Prediction& p, const TaskGraph& graph) {
    std::vector<double> asked(graph.connections().size()), carried(graph.connections().size());
    for (const Task& task : graph.tasks()) {
      if (task.kind == TaskKind::kTransfer) asked[task.place] += task.amount;
    }
    for (const Flow& flow : simulate(graph, {}, {.record_flows = true}).flows) carried[flow.connection] += flow.bytes;
    for (std::size_t c = 0; c < asked.size(); ++c) {
      if (relative(asked[c], carried[c]) > 1e-9)
        faults.push_back(
            fmt::format("{}: connection {} carried {:.12g} of {:.12g} B", which(p), c, carried[c], asked[c]));
    }
  });
}

namespace {

// Whether a transfer meets so high a loss that its mean rate stands for it, but not with SimGrid's engine.
bool meets_many_losses(const TaskGraph& graph) {
  return std::any_of(graph.tasks().begin(), graph.tasks().end(), [&](const Task& task) {
    if (task.kind != TaskKind::kTransfer) return false;
    const Connection& connection = graph.connections()[task.place];
    return losses_of(connection.route.window, task.amount / connection.sockets) > 0;
  });
}

}  // namespace

void engines_agree(const RandomCase& drawn, CaseDice& dice, Faults& faults) {
  std::size_t links = 0;  // SimGrid cannot grow later
  each_graph(drawn, [&](const Prediction&, const TaskGraph& graph) { links = std::max(links, graph.links().size()); });
  reserve_network(links);
  each_graph(drawn, [&](const Prediction& p, const TaskGraph& graph) {
    const double events = simulate(graph).end.value;
    const double engine = simulate(graph, {}, {.always_engine = true}).end.value;
    if (relative(events, engine) <= kAgree || meets_many_losses(graph)) return;
    const auto [least, most] = by_ties(drawn.scenario, graph, engine, dice);
    if (!is_within({std::min(events, least), std::max(events, most)}, engine))
      faults.push_back(
          fmt::format("{}: by events {:.9g} s, by SimGrid {:.9g} s: {:.3g} %; ties decide over {:.9g} to {:.9g} s",
                      which(p), events, engine, 100 * (engine / events - 1), least, most));
  });
}

}  // namespace slmsim
