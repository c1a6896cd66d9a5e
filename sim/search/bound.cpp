#include "sim/search/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/job/jitter.h"
#include "sim/job/link_day.h"
#include "sim/technique/technique.h"

namespace slmsim {

namespace {

// With each link's least delays.
Platform nearest(const Scenario& scenario, PlanObjective objective) {
  Platform out = scenario.platform;
  if (!is_of_whole_jobs(objective)) return out;
  for (const LinkState& state : link_states(scenario)) {
    for (std::size_t i = 0; i < out.links.size(); ++i) {
      out.links[i].forward.delay = std::min(out.links[i].forward.delay, state.links[i].forward.delay);
      out.links[i].backward.delay = std::min(out.links[i].backward.delay, state.links[i].backward.delay);
    }
  }
  return out;
}

}  // namespace

QuickBound::QuickBound(const Space& space, PlanObjective objective)
    : space_(space), network_(nearest(space.scenario(), objective)), kinds_(gpu_kinds(space.scenario().platform)) {
  const Scenario& scenario = space.scenario();
  if (is_of_whole_jobs(objective)) factor_ = least_factor(scenario);
  const OperatorGraph operators = build_operator_graph(space.model());
  const std::size_t count = boost::num_vertices(operators);
  const int layers = operators[count - 1].layer;
  for (std::size_t device = 0; device < kinds_.size(); ++device) {
    const Gpu& gpu = scenario.platform.devices[device].gpu;
    const auto [at, is_new] = least_.try_emplace(kinds_[device]);
    if (!is_new) continue;
    for (std::size_t v = 0; v < count; ++v) {
      const Operator& op = operators[v];
      const OperatorTime time = least_operator_time(op, gpu, scenario.training.precision, scenario.software);
      const bool again = op.layer >= 0 && op.layer < layers;
      at->second[0].push_back((time.forward + time.backward).value);
      at->second[1].push_back((time.forward * (again ? 2.0 : 1.0) + time.backward).value);
    }
  }
}

Seconds QuickBound::compute(const Choice& choice, const Training& training, const TechniqueOptions& options) const {
  const bool again = options.recompute(training.rematerialisation) == Recompute::kFull;
  const auto [at, is_new] = compute_.try_emplace({choice[kGroupOf], again});
  if (!is_new) return at->second;
  std::map<int, int> gpus;
  for (const int device : space_.group(choice).devices) ++gpus[kinds_[static_cast<std::size_t>(device)]];
  std::map<int, double> whole;
  double rate = 0;
  for (const auto& [kind, number] : gpus) {
    for (const double time : least_.at(kind)[again]) whole[kind] += time;
    rate += number / whole[kind];
  }
  double sum = 0;
  for (std::size_t v = 0; v < least_.begin()->second[0].size(); ++v) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [kind, all] : whole) least = std::min(least, least_.at(kind)[again][v] / all);
    sum += least;
  }
  return at->second = Seconds{sum / rate};
}

Seconds QuickBound::launch(const Choice& choice, const Training& training, const TechniqueOptions& options) const {
  const Launcher launcher = options.technique->launcher(options);
  if (launcher == Launcher::kProcesses) return training.iteration_overhead;
  const bool first = launcher == Launcher::kDriverOnFirst;
  const auto [at, is_new] = farthest_.try_emplace({choice[kGroupOf], first});
  if (is_new) {
    const auto& devices = space_.group(choice).devices;
    Seconds least{std::numeric_limits<double>::infinity()};
    for (const int driver : devices) {
      Seconds farthest{0};
      for (const int device : devices) {
        if (device != driver) farthest = std::max(farthest, network_.round_trip(driver, device));
      }
      least = std::min(least, farthest);
      if (first) break;
    }
    at->second = least;
  }
  return training.iteration_overhead + at->second * training.control_round_trips;
}

Seconds QuickBound::job(const Choice& choice) const {
  const auto [training, options] = space_.trained(choice);
  const Seconds step = compute(choice, training, options) * static_cast<double>(training.batch);
  return options.startup() + (launch(choice, training, options) + step) * (factor_ * steps_of_job(training, options));
}

Seconds least_end(const TaskGraph& graph) {
  const auto& tasks = graph.tasks();
  struct Fastest {
    double rate = std::numeric_limits<double>::infinity(), window = rate;
  };
  std::vector<Fastest> fastest;
  for (const auto& connection : graph.connections()) {
    Fastest f;
    for (const int link : connection.route.links)
      f.rate = std::min(f.rate, graph.links()[static_cast<std::size_t>(link)].bandwidth.value);
    if (connection.route.socket_rate.value > 0)
      f.rate = std::min(f.rate, connection.route.socket_rate.value * connection.sockets);
    if (connection.route.windowed) f.window = connection.route.window.steady.value * connection.sockets;
    fastest.push_back(f);
  }
  std::vector<double> finish(tasks.size());
  struct Use {
    double first = std::numeric_limits<double>::infinity(), bytes = 0;
  };
  std::vector<Use> uses(graph.links().size());
  double end = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    double now = 0;
    for (const TaskId before : graph.predecessors(static_cast<TaskId>(t))) now = std::max(now, finish[before]);
    if (task.kind == TaskKind::kTransfer) {
      const Connection& connection = graph.connections()[static_cast<std::size_t>(task.place)];
      const Fastest& f = fastest[static_cast<std::size_t>(task.place)];
      for (const int link : connection.route.links) {
        Use& use = uses[static_cast<std::size_t>(link)];
        use.first = std::min(use.first, now);
        use.bytes += task.amount;
      }
      double sending = task.amount / f.rate;
      if (std::isfinite(f.window) && f.window > 0)
        sending = std::max(sending, (std::ceil(task.amount / f.window) - 1) * connection.route.window.rtt.value);
      now += sending + connection.route.latency.value;
    } else {
      now += task.amount;
    }
    finish[t] = now;
    end = std::max(end, now);
  }
  for (std::size_t link = 0; link < uses.size(); ++link) {
    if (uses[link].bytes > 0)
      end = std::max(end, uses[link].first + uses[link].bytes / graph.links()[link].bandwidth.value);
  }
  return Seconds{end};
}

}  // namespace slmsim
