#include "sim/search/bound.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "sim/compute/operator_graph.h"
#include "sim/predict/job/jitter.h"
#include "sim/predict/job/link_day.h"
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
    : space_(space),
      network_(nearest(space.scenario(), objective)),
      kinds_(gpu_kinds(space.scenario().platform)),
      compute_(space.group_count()),
      farthest_(space.group_count()) {
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
  add_classes();
}

void QuickBound::add_classes() {
  classes_.resize(space_.lists().size());
  class_of_.resize(space_.lists().size());
  for (const Space::Block& block : space_.blocks()) {
    const std::vector<Choice>& list = space_.lists()[block.list];
    std::vector<Class>& classes = classes_[block.list];
    if (!classes.empty()) continue;
    const auto figures = [](const Class& of) {
      return std::tuple(of.startup, of.launch, of.batch, of.steps, of.round_trips, of.launcher, of.anew);
    };
    for (std::uint32_t place = 0; place < list.size(); ++place) {
      Choice choice = list[place];
      choice[kGroupOf] = block.group;
      const auto [training, options] = space_.trained(choice);
      Class its{options.startup(),
                training.iteration_overhead,
                static_cast<double>(training.batch),
                static_cast<double>(steps_of_job(training, options)),
                static_cast<double>(training.control_round_trips),
                options.technique->launcher(options),
                options.recompute(training.rematerialisation) == Recompute::kFull};
      const auto same = std::find_if(classes.begin(), classes.end(),
                                     [&](const Class& other) { return figures(other) == figures(its); });
      class_of_[block.list].push_back(static_cast<std::uint32_t>(same - classes.begin()));
      (same == classes.end() ? classes.emplace_back(std::move(its)) : *same).places.push_back(place);
    }
  }
}

Seconds QuickBound::compute(std::int32_t group, bool anew) const {
  std::optional<Seconds>& known = compute_[static_cast<std::size_t>(group)][anew];
  if (known) return *known;
  std::map<int, int> gpus;
  for (const int device : space_.group(group).devices) ++gpus[kinds_[device]];
  std::map<int, double> whole;
  double rate = 0;
  for (const auto& [kind, number] : gpus) {
    for (const double time : least_.at(kind)[anew]) whole[kind] += time;
    rate += number / whole[kind];
  }
  double sum = 0;
  for (std::size_t v = 0; v < least_.begin()->second[0].size(); ++v) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [kind, all] : whole) least = std::min(least, least_.at(kind)[anew][v] / all);
    sum += least;
  }
  return *(known = Seconds{sum / rate});
}

Seconds QuickBound::launch(std::int32_t group, const Class& of) const {
  if (of.launcher == Launcher::kProcesses) return of.launch;
  const bool first = of.launcher == Launcher::kDriverOnFirst;
  std::optional<Seconds>& known = farthest_[static_cast<std::size_t>(group)][first];
  if (!known) {
    const auto& devices = space_.group(group).devices;
    const std::vector<int> others = one_of_each_vm(space_.scenario().platform, devices);
    Seconds least{std::numeric_limits<double>::infinity()};
    for (const int driver : first ? std::vector{devices.front()} : others) {
      Seconds farthest{0};
      for (const int device : others) {
        const auto [at, is_new] = round_trips_.try_emplace({driver, device});
        if (is_new) at->second = device == driver ? Seconds{0} : network_.round_trip(driver, device);
        farthest = std::max(farthest, at->second);
      }
      least = std::min(least, farthest);
    }
    known = least;
  }
  return of.launch + *known * of.round_trips;
}

Seconds QuickBound::job(std::int32_t group, const Class& of, Seconds step) const {
  const Seconds least = std::max(step, compute(group, of.anew) * of.batch);
  return of.startup + (launch(group, of) + least) * (factor_ * of.steps);
}

const QuickBound::Class& QuickBound::class_of(const Space::Block& block, std::size_t choice) const {
  return classes_[block.list][class_of_[block.list][choice - block.first]];
}

Seconds QuickBound::job(std::size_t choice, Seconds step) const {
  const Space::Block& block = space_.block_of(choice);
  return job(block.group, class_of(block, choice), step);
}

Seconds QuickBound::step_within(std::size_t choice, Seconds job) const {
  const Space::Block& block = space_.block_of(choice);
  const Class& of = class_of(block, choice);
  return (job - of.startup) / (factor_ * of.steps) - launch(block.group, of);
}

}  // namespace slmsim
