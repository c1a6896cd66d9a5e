#include "sim/fit/next.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slmsim {
namespace {

class Advisor {
 public:
  Advisor(const Scenario& scenario, const Ensemble& ensemble, const std::string& model, const NextRules& rules,
          std::optional<std::size_t> selected)
      : scenario_(scenario), ensemble_(ensemble), rules_(rules), selected_(selected) {
    for (std::size_t c = 0; c < ensemble.cells.size(); ++c) {
      if (ensemble.cells[c].model == model) own_.push_back(c);
      changes_.push_back(one_changes_training(scenario.techniques, ensemble.cells[c].technique));
    }
    const auto kinds = kinds_of(scenario, ensemble.cells);
    costs_ = outcomes_of(ensemble, kinds, scenario.selection.objective, rules.draws, rules.seed, &points_);
    regrets_.resize(ensemble.cells.size());
    logs_.resize(ensemble.cells.size());
    for (const std::size_t c : own_) {
      for (const auto& cost : costs_) logs_[c].push_back(std::log(cost[c]));
    }
    const std::vector<std::size_t> order = by_mean_cost();
    std::vector<double> of_pilot(ensemble.cells.size());
    for (const std::size_t c : own_) of_pilot[c] = price_of(pilot(c));
    for (const auto& cost : costs_) {
      // A pick that does not run shows in its pilot run; then the next one that runs is taken.
      const auto runs = std::ranges::find_if(order, [&](std::size_t c) { return std::isfinite(cost[c]); });
      const bool none = runs == order.end();
      double best = kNever;
      for (const std::size_t c : own_) best = std::min(best, cost[c]);
      bests_.push_back(best);
      for (const std::size_t c : own_)
        regrets_[c].push_back(none ? 0 : (std::isfinite(cost[c]) ? cost[c] : of_pilot[c] + cost[*runs]) - best);
    }
  }

  NextPick advise(const std::string& model, const std::vector<std::size_t>& open) {
    NextPick out;
    out.model = model;
    out.pick = pick_of(std::vector<double>(costs_.size(), 1.0));
    constexpr double kLeast = 0.05;
    const auto count = std::ranges::count_if(bests_, [](double best) { return std::isfinite(best); });
    out.is_possible = static_cast<double>(count) >= kLeast * static_cast<double>(bests_.size());
    out.stop = true;
    if (!out.is_possible) return out;
    for (std::size_t w = 0; w < costs_.size(); ++w) {
      out.right += is_right(w, out.pick) ? 1.0 / static_cast<double>(costs_.size()) : 0;
      out.regret += regrets_[out.pick][w] / static_cast<double>(costs_.size());
    }
    for (const std::size_t c : open) {
      if (std::ranges::find(own_, c) != own_.end()) out.runs.push_back(judge(c, out));
    }
    std::ranges::stable_sort(
        out.runs, [](const NextRun& a, const NextRun& b) { return a.per_gpu_minute() > b.per_gpu_minute(); });
    const bool worth =
        std::ranges::any_of(out.runs, [&](const NextRun& r) { return rules_.jobs * r.saved > price_of(r); });
    out.sure = out.right >= rules_.sure;
    out.stop = out.sure || !worth;
    return out;
  }

 private:
  // The model's candidates by their mean cost, where one that does not run costs as much as the dearest that does.
  std::vector<std::size_t> by_mean_cost() const {
    std::vector<double> sums(ensemble_.cells.size());
    for (const auto& cost : costs_) {
      double most = 0;
      for (const std::size_t c : own_) most = std::max(most, std::isfinite(cost[c]) ? cost[c] : 0);
      for (const std::size_t c : own_) sums[c] += std::min(cost[c], most);
    }
    std::vector<std::size_t> order = own_;
    std::ranges::stable_sort(order, {}, [&](std::size_t c) { return sums[c]; });
    return order;
  }

  NextRun pilot(std::size_t candidate) const {
    NextRun run;
    run.candidate = candidate;
    run.minutes = trial_minutes(ensemble_, candidate, rules_.trial_epochs, rules_.iterations);
    run.gpu_minutes = run.minutes * gpus_of(candidate);
    return run;
  }

  bool is_right(std::size_t world, std::size_t pick) const {
    return std::isfinite(costs_[world][pick]) == std::isfinite(bests_[world]) &&
           regrets_[pick][world] <= scenario_.selection.delta * bests_[world];
  }

  // The least expected cost; of near ties within delta the selected one, or one that leaves the training as it is
  // (predict/algorithm.h).
  std::size_t pick_of(const std::vector<double>& weights) const {
    double best = 0;
    for (std::size_t w = 0; w < weights.size(); ++w) best += std::isfinite(bests_[w]) ? weights[w] * bests_[w] : 0;
    std::size_t pick = own_.front(), usual = pick;
    double least = kNever, least_usual = kNever, of_selected = kNever;
    for (const std::size_t c : own_) {
      const double sum = std::inner_product(weights.begin(), weights.end(), regrets_[c].begin(), 0.0);
      if (c == selected_) of_selected = sum;
      if (sum < least * (1 - 1e-9)) least = sum, pick = c;
      if (changes_[c]) continue;
      if (sum < least_usual * (1 - 1e-9)) least_usual = sum, usual = c;
    }
    const double near = (best + least) * (1 + scenario_.selection.delta);
    if (best + of_selected <= near) return *selected_;
    return best + least_usual <= near ? usual : pick;
  }

  NextRun judge(std::size_t candidate, const NextPick& now) const {
    NextRun run = pilot(candidate);
    for (std::size_t truth = 0; truth < costs_.size(); ++truth) {
      auto weights = weights_after(candidate, truth);
      weights[truth] = 0;
      // Others of the true world's point among several would know it from any result.
      for (std::size_t w = 0; ensemble_.size() > 1 && w < weights.size(); ++w)
        weights[w] *= points_[w] != points_[truth];
      // A result that no other world would show leaves the pick unchanged.
      const bool informs = std::ranges::any_of(weights, [](double w) { return w > kLeastWeight; });
      const std::size_t pick = informs ? pick_of(weights) : now.pick;
      run.right += is_right(truth, pick) ? 1.0 / static_cast<double>(costs_.size()) : 0;
      run.saved += (regrets_[now.pick][truth] - regrets_[pick][truth]) / static_cast<double>(costs_.size());
    }
    // Where too few worlds agree with each result to improve the pick, it stays unchanged.
    if (run.saved <= 0) run.saved = 0, run.right = now.right;
    return run;
  }

  // Agreement of the worlds with the candidate's result in world `truth`: time to within a run's noise, or failure.
  std::vector<double> weights_after(std::size_t candidate, std::size_t truth) const {
    const std::vector<double>& logs = logs_[candidate];
    const double seen = logs[truth];
    std::vector<double> out;
    out.reserve(logs.size());
    for (const double shown : logs) {
      if (!std::isfinite(seen) || !std::isfinite(shown)) {
        out.push_back(std::isfinite(seen) == std::isfinite(shown) ? 1 : 0);
        continue;
      }
      const double distance = (shown - seen) / kResolution;
      out.push_back(std::abs(distance) > kFarthest ? 0 : std::exp(-distance * distance / 2));
    }
    return out;
  }

  // Cost of the run, in the objective's unit. With a rate as objective the cost is zero: any informative run is worth it.
  double price_of(const NextRun& run) const {
    const Objective objective = scenario_.selection.objective;
    if (objective == Objective::kTime) return 60 * run.minutes;
    return objective == Objective::kGpuHours ? run.gpu_minutes / 60 : 0;
  }

  double gpus_of(std::size_t candidate) const {
    for (const auto& group : scenario_.groups) {
      if (group.names == ensemble_.cells[candidate].group) return static_cast<double>(group.devices.size());
    }
    return 1;
  }

  // Resolution of results that separates worlds: a run's noise, but large enough that some worlds remain.
  static constexpr double kResolution = 0.05;
  static constexpr double kLeastWeight = 1e-3;
  static constexpr double kFarthest = 6.5;  // resolutions; the weight there is 7e-10

  const Scenario& scenario_;
  const Ensemble& ensemble_;
  const NextRules& rules_;
  std::optional<std::size_t> selected_;
  std::vector<std::size_t> own_;
  std::vector<bool> changes_;  // per candidate: whether it changes the training
  std::vector<std::vector<double>>
      costs_;                        // for each possible world: cost by the objective, infinite where it does not run
  std::vector<std::size_t> points_;  // the ensemble's, by world
  std::vector<std::vector<double>> logs_;  // for each candidate of the model, by world: logarithm of the cost
  std::vector<double> bests_;              // for each world
  std::vector<std::vector<double>>
      regrets_;  // for each candidate of the model, by world: excess cost over the best; 0: none runs
};

constexpr std::size_t kFirstDraws = 8;
constexpr double kFar = 20;  // times the cost of the best

// Whether the cell costs more than kFar times the best of its model at all points.
bool is_far(const Ensemble& ensemble, std::size_t cell, Objective objective) {
  return std::ranges::all_of(ensemble.forecasts, [&](const auto& all) {
    double best = kNever;
    for (std::size_t c = 0; c < all.size(); ++c) {
      const bool runs = all[c].status == Status::kOk && all[c].is_timed();
      if (runs && ensemble.cells[c].model == ensemble.cells[cell].model)
        best = std::min(best, cost_of(all[c], objective));
    }
    return all[cell].is_timed() && std::isfinite(best) && cost_of(all[cell], objective) > kFar * best;
  });
}

}  // namespace

double trial_minutes(const Ensemble& ensemble, std::size_t candidate, double epochs, double iterations) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    const Forecast& f = ensemble.forecasts[i][candidate];
    sum += ensemble.weights[i] * (f.startup + std::min(f.trial * epochs, f.iteration * iterations)) / 60;
    all += ensemble.weights[i];
  }
  return sum / all;
}

Ensemble ensemble_of_rivals(const Draws& draws, const Experiment& experiment, Objective objective, std::size_t count,
                            const std::function<bool()>& stop) {
  Forecaster forecaster({experiment}, true);
  Ensemble first = ensemble_of(draws, forecaster, std::min(kFirstDraws, count), stop);
  if (first.size() == 0 || count <= kFirstDraws) return first;
  std::vector<std::size_t> near;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    if (!is_far(first, c, objective)) near.push_back(c);
  }
  forecaster.keep(near);  // the first draws are among the others, so their forecasts serve again
  Ensemble out = ensemble_of(draws, forecaster, count, stop);
  if (out.size() == 0) return first;
  // Draws are ordered along the direction in which they differ most.
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::vector<Forecast> forecasts = first.forecasts[i * first.size() / out.size()];
    for (std::size_t k = 0; k < near.size(); ++k) forecasts[near[k]] = out.forecasts[i][k];
    out.forecasts[i] = std::move(forecasts);
  }
  out.cells = experiment.cells;
  return out;
}

std::vector<std::size_t> open_candidates(const Ensemble& ensemble) {
  const auto forecast_alike = [&](std::size_t a, std::size_t b) {
    const Candidate &one = ensemble.cells[a], &other = ensemble.cells[b];
    return one.model == other.model && one.group == other.group &&
           std::ranges::all_of(ensemble.forecasts, [&](const auto& all) {
             return all[a].job == all[b].job && all[a].iteration == all[b].iteration && all[a].memory == all[b].memory;
           });
  };
  std::vector<std::size_t> listed, out;
  for (const Pilot& run : ensemble.runs) {
    if (const std::size_t c = ensemble.position_of(run.cell); c < ensemble.cells.size()) listed.push_back(c);
  }
  for (std::size_t c = 0; c < ensemble.cells.size(); ++c) {
    const bool runs = std::ranges::any_of(
        ensemble.forecasts, [&](const auto& all) { return all[c].status == Status::kOk && all[c].is_timed(); });
    if (!runs || std::ranges::any_of(listed, [&](std::size_t t) { return t == c || forecast_alike(t, c); })) continue;
    listed.push_back(c);
    out.push_back(c);
  }
  return out;
}

NextPick next_run(const Scenario& scenario, const Ensemble& ensemble, const std::string& model,
                  const std::vector<std::size_t>& open, const NextRules& rules, std::optional<std::size_t> selected) {
  return Advisor(scenario, ensemble, model, rules, selected).advise(model, open);
}

}  // namespace slmsim
