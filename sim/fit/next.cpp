#include "sim/fit/next.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace slmsim {
namespace {

constexpr double kFailure =
    10;  // a pick that does not run costs so many times the best: it is found out, and time is lost

// What may be true.
struct World {
  std::vector<double> cost;  // by the objective, infinite where it does not run
};

class Advisor {
 public:
  Advisor(const Scenario& scenario, const Ensemble& ensemble, const std::string& model, const NextRules& rules)
      : scenario_(scenario), ensemble_(ensemble), rules_(rules) {
    for (std::size_t c = 0; c < ensemble.cells.size(); ++c) {
      if (ensemble.cells[c].model == model) own_.push_back(c);
    }
    const auto kinds = kinds_of(scenario, ensemble.cells);
    for (auto& cost : outcomes_of(ensemble, kinds, scenario.selection.objective, rules.draws, rules.seed))
      worlds_.push_back({std::move(cost)});
  }

  NextPick advise(const std::string& model, const std::vector<std::size_t>& open) {
    NextPick out;
    out.model = model;
    const std::vector<double> even(worlds_.size(), 1.0);
    out.pick = pick_of(even);
    std::tie(out.right, out.regret) = worth_of(out.pick, even);
    for (const std::size_t c : open) {
      if (std::find(own_.begin(), own_.end(), c) != own_.end()) out.runs.push_back(judge(c, out.regret));
    }
    std::stable_sort(out.runs.begin(), out.runs.end(),
                     [](const NextRun& a, const NextRun& b) { return a.per_gpu_minute() > b.per_gpu_minute(); });
    // Time that would be saved on the mean against time that the run takes.
    const bool worth = std::any_of(out.runs.begin(), out.runs.end(),
                                   [&](const NextRun& r) { return rules_.jobs * r.saved > 60 * r.minutes; });
    out.stop = out.right >= rules_.sure || !worth;
    return out;
  }

 private:
  double best_of(const World& world) const {
    double best = kNever;
    for (const std::size_t c : own_) best = std::min(best, world.cost[c]);
    return best;
  }

  // What a pick costs in a world beyond the best one; 0 where nothing runs.
  double regret_of(const World& world, std::size_t pick) const {
    const double best = best_of(world);
    if (!std::isfinite(best)) return 0;
    return std::min(world.cost[pick], best * kFailure) - best;
  }

  std::size_t pick_of(const std::vector<double>& weights) const {
    std::size_t pick = own_.front();
    double least = kNever;
    for (const std::size_t c : own_) {
      double sum = 0;
      for (std::size_t w = 0; w < worlds_.size(); ++w)
        sum += weights[w] > 0 ? weights[w] * regret_of(worlds_[w], c) : 0;
      if (sum < least * (1 - 1e-9)) least = sum, pick = c;
    }
    return pick;
  }

  // Probability of being right, and expected regret.
  std::pair<double, double> worth_of(std::size_t pick, const std::vector<double>& weights) const {
    double right = 0, regret = 0, all = 0;
    for (std::size_t w = 0; w < worlds_.size(); ++w) {
      const double beyond = regret_of(worlds_[w], pick), best = best_of(worlds_[w]);
      right += weights[w] * (beyond <= scenario_.selection.delta * best ? 1.0 : 0.0);
      regret += weights[w] * beyond;
      all += weights[w];
    }
    return {right / all, regret / all};
  }

  NextRun judge(std::size_t candidate, double before) {
    NextRun run;
    run.candidate = candidate;
    run.minutes = trial_minutes(ensemble_, candidate, rules_.trial_epochs);
    run.gpu_minutes = run.minutes * gpus_of(candidate);
    // Results that may come: of every so many-th world, which the others are then weighted by.
    constexpr std::size_t kResults = 60;
    double regret = 0, right = 0, results = 0;
    const std::size_t step = std::max<std::size_t>(1, worlds_.size() / kResults);
    for (std::size_t truth = 0; truth < worlds_.size(); truth += step) {
      const auto weights = weights_after(candidate, worlds_[truth]);
      const std::size_t pick = pick_of(weights);
      const auto [now, left] = worth_of(pick, weights);
      right += now;
      regret += left;
      results += 1;
    }
    run.right = right / results;
    run.saved = std::max(0.0, before - regret / results);
    return run;
  }

  // How the worlds agree with what this one would show of the candidate: time to within a run's noise, or that it fails.
  std::vector<double> weights_after(std::size_t candidate, const World& truth) const {
    const double seen = truth.cost[candidate];
    std::vector<double> out;
    for (const auto& world : worlds_) {
      const double shown = world.cost[candidate];
      if (!std::isfinite(seen) || !std::isfinite(shown)) {
        out.push_back(std::isfinite(seen) == std::isfinite(shown) ? 1 : 0);
        continue;
      }
      const double distance = std::log(shown / seen) / kResolution;
      out.push_back(std::exp(-distance * distance / 2));
    }
    return out;
  }

  double gpus_of(std::size_t candidate) const {
    for (const auto& group : scenario_.groups) {
      if (group.names == ensemble_.cells[candidate].group) return static_cast<double>(group.devices.size());
    }
    return 1;
  }

  // Of results, as worlds are told apart by them: a run's noise, and not so little that no world would be left.
  static constexpr double kResolution = 0.05;

  const Scenario& scenario_;
  const Ensemble& ensemble_;
  const NextRules& rules_;
  std::vector<std::size_t> own_;
  std::vector<World> worlds_;
};

}  // namespace

double trial_minutes(const Ensemble& ensemble, std::size_t candidate, double epochs) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    const Forecast& f = ensemble.forecasts[i][candidate];
    sum += ensemble.weights[i] * (f.startup + f.trial * epochs) / 60;
    all += ensemble.weights[i];
  }
  return sum / all;
}

NextPick next_run(const Scenario& scenario, const Ensemble& ensemble, const std::string& model,
                  const std::vector<std::size_t>& open, const NextRules& rules) {
  return Advisor(scenario, ensemble, model, rules).advise(model, open);
}

}  // namespace slmsim
