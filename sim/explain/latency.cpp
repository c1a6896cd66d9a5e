#include "sim/explain/latency.h"

#include <algorithm>
#include <cmath>

#include "sim/base/work.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

const std::vector<double> kMilliseconds = {0.1, 0.3, 1, 3, 10, 30, 100, 300};
constexpr double kSame = 0.05;       // the scenario's own round-trip time replaces a point this close to it
constexpr double kPrecision = 0.01;  // relative, of the round-trip time of a change
constexpr double kChance = 0.05;     // relative, by which losses may shorten a time where the round-trip time is longer

bool same_pick(const Selection& a, const Selection& b) { return a.technique == b.technique && a.group == b.group; }

class Sweep {
 public:
  Sweep(const Scenario& scenario, const Transformer& model, const std::vector<Prediction>& known,
        const std::function<bool()>& stop, std::size_t threads)
      : scenario_(scenario), known_(known), stop_(stop), threads_(threads) {
    scenario_.models = {model};
    operators_ = build_operator_graph(model);
    const Platform& platform = scenario.platform;
    wide_area_ = any_group([&](const Group& group) { return spans_sites(platform, group.devices); });
    own_ = Seconds{0};
    if (wide_area_) {
      for (const auto& link : platform.links) see(link.forward.delay + link.backward.delay);
    } else {
      for (const auto& site : platform.sites) see(site.rtt);
    }
  }

  bool possible() const {
    const auto too_many = [](const Group& group) { return group.devices.size() > kMostSweptGpus; };
    return own_ > Seconds{0} &&
           any_group([&](const Group& group) { return spans_vms(scenario_.platform, group.devices); }) &&
           std::ranges::none_of(scenario_.groups, too_many);
  }

  LatencySweep run() {
    LatencySweep sweep{.wide_area = wide_area_, .alike = alike_, .own = own_, .points = {}, .changes = {}};
    std::vector<double> times;
    for (const double ms : kMilliseconds) {
      if (std::abs(ms * 1e-3 / own_.value - 1) > kSame) times.push_back(ms * 1e-3);
    }
    times.push_back(own_.value);
    std::ranges::sort(times);
    for (const double time : times) sweep.points.push_back(at(Seconds{time}));
    for (std::size_t i = 1; i < sweep.points.size(); ++i) {
      if (!same_pick(sweep.points[i - 1].pick, sweep.points[i].pick))
        sweep.changes.push_back(change(sweep.points[i - 1], sweep.points[i]));
    }
    return sweep;
  }

 private:
  void see(Seconds rtt) {
    alike_ = alike_ && (own_ <= Seconds{0} || rtt == own_);
    own_ = std::max(own_, rtt);
  }

  template <class Test>
  bool any_group(const Test& test) const {
    return std::ranges::any_of(scenario_.groups, test);
  }

  // Predictions `as_known` stand for those of their candidates.
  LatencyPoint at(Seconds rtt, const std::vector<const Prediction*>& as_known = {}) {
    LatencyPoint point{.rtt = rtt, .predictions = {}, .pick = {}};
    const double factor = rtt / own_;
    Scenario changed = scenario_;
    for (auto& link : changed.platform.links) {
      if (!wide_area_) continue;
      link.forward.delay = link.forward.delay * factor;
      link.backward.delay = link.backward.delay * factor;
    }
    for (auto& site : changed.platform.sites) {
      if (!wide_area_) site.rtt = site.rtt * factor;
    }
    const bool as_it_is = std::abs(factor - 1) < 1e-12;
    std::erase_if(changed.groups, [&](const Group& group) { return as_it_is || !concerned(group); });
    const auto is_known = [&](const Technique* technique, const std::vector<std::string>& group) {
      return std::ranges::any_of(as_known,
                                 [&](const Prediction* p) { return p->technique == technique && p->group == group; });
    };
    std::vector<PlanRequest> requests;
    for (const auto& group : changed.groups) {
      for (const auto& technique : changed.techniques) {
        if (!is_known(technique.technique, group.names))
          requests.push_back({changed, changed.models.front(), operators_, group, technique});
      }
    }
    std::vector<Prediction> fresh(requests.size());
    in_parallel(requests.size(), threads_, [&](std::size_t i) {
      stop_if(stop_);
      fresh[i] = predict_one(requests[i], Network(changed.platform), {.advice = false});
    });
    for (const auto& old : known_) {
      if (old.model != scenario_.models.front().name) continue;
      const auto found = std::ranges::find_if(
          fresh, [&](const Prediction& p) { return p.technique == old.technique && p.group == old.group; });
      const auto far = std::ranges::find_if(
          as_known, [&](const Prediction* p) { return p->technique == old.technique && p->group == old.group; });
      const Prediction& same = far == as_known.end() ? old : **far;
      point.predictions.push_back(found == fresh.end() ? same : *found);
      point.predictions.back().plan.reset();
      point.predictions.back().connections.clear();
    }
    point.pick = select_technique(scenario_, point.predictions, scenario_.selection.algorithm);
    return point;
  }

  bool concerned(const Group& group) const {
    return wide_area_ ? spans_sites(scenario_.platform, group.devices) : spans_vms(scenario_.platform, group.devices);
  }

  // Predictions of candidates that are picked nowhere between the two points: no time falls as the round-trip time grows, and
  // at the first point these take longer already than the pick does at the second.
  std::vector<const Prediction*> too_slow(const LatencyPoint& from, const LatencyPoint& to) const {
    const SelectionRules& rules = scenario_.selection;
    if (rules.algorithm != Algorithm::kAmended || rules.objective != Objective::kTime) return {};
    const auto pick = std::ranges::find_if(to.predictions, [&](const Prediction& p) {
      return p.technique == to.pick.technique && p.group == to.pick.group;
    });
    if (pick == to.predictions.end()) return {};
    const double most = ranked_cost(*pick, rules.objective) * (1 + rules.delta) * (1 + kChance);
    std::vector<const Prediction*> out;
    for (const Prediction& p : from.predictions) {
      if (ranked_cost(p, rules.objective) > most) out.push_back(&p);
    }
    return out;
  }

  PickChange change(LatencyPoint low, LatencyPoint high) {
    const Selection below = low.pick;
    while (high.rtt / low.rtt > 1 + kPrecision) {
      LatencyPoint middle = at(Seconds{std::sqrt(low.rtt.value * high.rtt.value)}, too_slow(low, high));
      (same_pick(middle.pick, below) ? low : high) = std::move(middle);
    }
    return {high.rtt, below, high.pick};
  }

  Scenario scenario_;
  const std::vector<Prediction>& known_;
  const std::function<bool()>& stop_;
  std::size_t threads_;
  OperatorGraph operators_;  // of the model
  bool wide_area_ = true, alike_ = true;
  Seconds own_;
};

}  // namespace

std::optional<LatencySweep> sweep_latency(const Scenario& scenario, const Transformer& model,
                                          const std::vector<Prediction>& predictions, const std::function<bool()>& stop,
                                          std::size_t threads) {
  Sweep sweep(scenario, model, predictions, stop, threads);
  if (!sweep.possible()) return std::nullopt;
  return sweep.run();
}

}  // namespace slmsim
