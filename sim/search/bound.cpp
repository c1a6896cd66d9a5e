#include "sim/search/bound.h"

#include <algorithm>
#include <limits>
#include <set>

#include "sim/predict/job/jitter.h"
#include "sim/predict/job/link_day.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

namespace {

// The platform with each link's smallest delays.
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

std::vector<int> one_of_each_vm(const Platform& platform, const std::vector<int>& devices) {
  std::set<int> vms;
  std::vector<int> out;
  for (const int device : devices) {
    if (vms.insert(platform.devices[device].vm).second) out.push_back(device);
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

const QuickBound::TrainingFigures& QuickBound::trained(const Choice& choice) const {
  Choice key = choice;
  // A choice with the scenario's own values may differ from the others in any part of the training.
  if (!space_.is_as_given(choice)) key[kGroupOf] = static_cast<std::int32_t>(space_.group(choice).devices.size());
  const auto [at, is_new] = trained_.try_emplace(key);
  if (!is_new) return at->second;
  const auto [training, options] = space_.trained(choice);
  return at->second = {options.startup(),
                       training.iteration_overhead,
                       static_cast<double>(training.batch),
                       static_cast<double>(steps_of_job(training, options)),
                       static_cast<double>(training.control_round_trips),
                       options.technique->launcher(options),
                       options.recompute(training.rematerialisation) == Recompute::kFull};
}

Seconds QuickBound::compute(const Choice& choice, const TrainingFigures& trained) const {
  const bool again = trained.anew;
  const auto [at, is_new] = compute_.try_emplace({choice[kGroupOf], again});
  if (!is_new) return at->second;
  std::map<int, int> gpus;
  for (const int device : space_.group(choice).devices) ++gpus[kinds_[device]];
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

Seconds QuickBound::launch(const Choice& choice, const TrainingFigures& trained) const {
  if (trained.launcher == Launcher::kProcesses) return trained.launch;
  const bool first = trained.launcher == Launcher::kDriverOnFirst;
  const auto [at, is_new] = farthest_.try_emplace({choice[kGroupOf], first});
  if (is_new) {
    const auto& devices = space_.group(choice).devices;
    const std::vector<int> others = one_of_each_vm(space_.scenario().platform, devices);
    Seconds least{std::numeric_limits<double>::infinity()};
    for (const int driver : devices) {
      Seconds farthest{0};
      for (const int device : others) {
        const auto [known, is_new_pair] = round_trips_.try_emplace({driver, device});
        if (is_new_pair) known->second = device == driver ? Seconds{0} : network_.round_trip(driver, device);
        farthest = std::max(farthest, known->second);
      }
      least = std::min(least, farthest);
      if (first) break;
    }
    at->second = least;
  }
  return trained.launch + at->second * trained.round_trips;
}

Seconds QuickBound::job(const Choice& choice) const {
  const TrainingFigures& its = trained(choice);
  const Seconds step = compute(choice, its) * its.batch;
  return its.startup + (launch(choice, its) + step) * (factor_ * its.steps);
}

}  // namespace slmsim
