#include "sim/fit/uncertainty.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

constexpr std::size_t kDraws = 1000;  // drawn outcomes for the probability of a pick

// The probability that a run of the cell shows at most `value`.
double probability_below(const Ensemble& e, std::size_t cell, Measure measure, double value) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double predicted = figure_of(e.forecasts[i][cell], measure);
    if (predicted <= 0) continue;
    const Discrepancy discrepancy = e.discrepancy(i, cell);
    const double model = measure == Measure::kPeakMemory ? discrepancy.memory : discrepancy.time;
    const double scale = std::hypot(model, kUsualNoise);
    sum += e.weights[i] * tail_probability(std::log(value / predicted) / scale);
    all += e.weights[i];
  }
  return all > 0 ? sum / all : 0;
}

double quantile_of(const Ensemble& e, std::size_t cell, Measure measure, double probability) {
  double low = kNever, high = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double predicted = figure_of(e.forecasts[i][cell], measure);
    if (predicted <= 0 || e.weights[i] <= 0) continue;
    low = std::min(low, predicted);
    high = std::max(high, predicted);
  }
  if (high <= 0) return 0;
  low /= 100;
  high *= 100;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (probability_below(e, cell, measure, middle) < probability ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

double ratio_of(double exact, double coarse) { return exact > 0 && coarse > 0 ? exact / coarse : 1; }

// For each cell that was tried, whether it ran.
std::vector<std::optional<bool>> outcomes_of_runs(const Ensemble& ensemble) {
  std::vector<std::optional<bool>> out(ensemble.cells.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    for (const auto& run : ensemble.runs) {
      if (run.cell == ensemble.cells[c]) out[c] = run.measure != Measure::kFits || run.value > 0;
    }
  }
  return out;
}

// Logarithm of measured over forecast times of a kind's runs at a point; nothing where none was timed.
std::optional<double> log_of_runs(const Ensemble& ensemble, const std::vector<std::string>& kinds,
                                  const std::string& kind, std::size_t point) {
  double sum = 0;
  int count = 0;
  for (const auto& run : ensemble.runs) {
    if (run.measure == Measure::kFits || run.measure == Measure::kPeakMemory) continue;
    const std::size_t cell = ensemble.position_of(run.cell);
    if (cell == ensemble.cells.size() || kinds[cell] != kind) continue;
    const double predicted = figure_of(ensemble.forecasts[point][cell], run.measure);
    if (predicted <= 0) continue;
    const bool is_rate = run.measure == Measure::kRate || run.measure == Measure::kTokensPerSecond;
    sum += is_rate ? std::log(predicted / run.value) : std::log(run.value / predicted);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace

double cost_of(const Forecast& f, Objective objective) {
  if (objective == Objective::kTime) return f.job;
  return objective == Objective::kGpuHours ? f.gpu_hours : 1.0 / std::max(1.0, f.trial_rate);
}

Discrepancy Ensemble::discrepancy(std::size_t point, std::size_t cell) const {
  return off.empty() ? discrepancies[point] : together(discrepancies[point], off[cell]);
}

std::size_t Ensemble::position_of(const Candidate& cell) const {
  return static_cast<std::size_t>(std::ranges::find(cells, cell) - cells.begin());
}

void correct(std::vector<std::vector<Forecast>>& forecasts, const std::vector<Forecast>& coarse,
             const std::vector<Forecast>& exact) {
  for (std::size_t c = 0; c < std::min(coarse.size(), exact.size()); ++c) {
    const double iteration = ratio_of(exact[c].iteration, coarse[c].iteration);
    const double trial = ratio_of(exact[c].trial, coarse[c].trial);
    const double running = ratio_of(exact[c].job - exact[c].startup, coarse[c].job - coarse[c].startup);
    if (iteration == 1 && trial == 1 && running == 1) continue;
    for (auto& cells : forecasts) {
      if (cells.empty()) continue;
      Forecast& f = cells[c];
      const double job = f.startup + (f.job - f.startup) * running;
      f.gpu_hours *= ratio_of(job, f.job);
      f.job = job;
      f.iteration *= iteration;
      f.tokens_per_second /= iteration;
      f.rate_per_gpu /= iteration;
      f.trial *= trial;
      f.trial_rate /= trial;
    }
  }
}

Ensemble ensemble_of(const Draws& draws, Forecaster& forecaster, std::size_t count, const std::function<bool()>& stop,
                     std::size_t experiment, const std::vector<Forecast>& exact) {
  const std::size_t all = draws.points.size();
  count = std::min(count, all);
  std::vector<std::size_t> chosen;
  std::vector<Question> questions;
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back((2 * i + 1) * all / (2 * count));
    questions.push_back({experiment, draws.points[chosen.back()].overrides});
  }
  if (forecaster.is_coarse()) questions.push_back({experiment, draws.centre});
  if (forecaster.is_coarse() && exact.empty()) questions.push_back({experiment, draws.centre, true});
  Ensemble out;
  out.cells = forecaster.experiments()[experiment].cells;
  const auto answers = forecaster.ask(questions, stop);
  for (std::size_t i = 0; i < count; ++i) {
    if (answers[i].empty()) continue;
    out.forecasts.push_back(answers[i]);
    out.discrepancies.push_back(draws.points[chosen[i]].discrepancy);
    out.weights.push_back(1);
  }
  if (forecaster.is_coarse()) correct(out.forecasts, answers[count], exact.empty() ? answers[count + 1] : exact);
  return out;
}

Interval interval_of(const Ensemble& ensemble, std::size_t cell, Measure measure, double level) {
  return {quantile_of(ensemble, cell, measure, (1 - level) / 2), quantile_of(ensemble, cell, measure, (1 + level) / 2)};
}

double median_of(const Ensemble& ensemble, std::size_t cell, Measure measure) {
  return quantile_of(ensemble, cell, measure, 0.5);
}

double fits_of(const Ensemble& ensemble, std::size_t cell) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    sum += ensemble.weights[i] * probability_fits(ensemble.forecasts[i][cell], ensemble.discrepancy(i, cell));
    all += ensemble.weights[i];
  }
  return all > 0 ? sum / all : 0;
}

std::vector<std::string> kinds_of(const Scenario& scenario, const std::vector<Candidate>& cells) {
  std::vector<std::string> out;
  for (const auto& cell : cells) {
    std::string kind = cell.model;
    for (const auto& group : scenario.groups) {
      if (group.names != cell.group) continue;
      // On one GPU techniques have nothing to exchange, and err alike.
      if (group.devices.size() != 1) kind += " " + cell.technique;
      for (const int device : group.devices) kind += " " + scenario.platform.devices[device].gpu.name;
    }
    out.push_back(std::move(kind));
  }
  return out;
}

std::vector<std::vector<double>> outcomes_of(const Ensemble& ensemble, const std::vector<std::string>& kinds,
                                             Objective objective, std::size_t draws, std::uint64_t seed,
                                             std::vector<std::size_t>* points) {
  Dice dice(seed);
  std::vector<std::vector<double>> out;
  const auto ran = outcomes_of_runs(ensemble);
  const std::vector<std::size_t> drawn = resampled(ensemble.weights, draws, dice.uniform());
  if (points) *points = drawn;
  for (const std::size_t i : drawn) {
    std::map<std::string, std::pair<double, double>> shared;  // discrepancies of a kind: time, and whether it fits
    auto& outcome = out.emplace_back();
    for (std::size_t c = 0; c < ensemble.cells.size(); ++c) {
      auto [known, fresh] = shared.try_emplace(kinds[c]);
      if (fresh) known->second = {tail_quantile(dice.uniform()), dice.uniform()};
      const Forecast& f = ensemble.forecasts[i][c];
      if (fresh) {
        const auto log = log_of_runs(ensemble, kinds, kinds[c], i);
        known->second.first = log ? *log : ensemble.discrepancy(i, c).time * known->second.first;
      }
      const bool fits = ran[c] ? *ran[c] : known->second.second < probability_fits(f, ensemble.discrepancy(i, c));
      const double factor = std::exp(known->second.first);
      outcome.push_back(fits && f.is_timed() ? cost_of(f, objective) * factor : kNever);
    }
  }
  return out;
}

PickUncertainty judge_pick(const std::vector<std::vector<double>>& outcomes, const std::vector<Candidate>& cells,
                           const Selection& pick, double delta) {
  PickUncertainty out;
  out.model = pick.model;
  std::optional<std::size_t> picked;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (pick.technique && cells[c].model == pick.model && cells[c].technique == pick.technique->name &&
        cells[c].group == pick.group)
      picked = c;
  }
  double finite = 0;
  for (const auto& outcome : outcomes) {
    double best = kNever;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (cells[c].model == pick.model) best = std::min(best, outcome[c]);
    }
    const double own = picked ? outcome[*picked] : kNever;
    // Where nothing runs, picking nothing is right.
    const bool right = picked ? std::isfinite(own) && own <= best * (1 + delta) : !std::isfinite(best);
    out.right += right ? 1.0 / static_cast<double>(outcomes.size()) : 0;
    if (!std::isfinite(own)) continue;
    finite += 1;
    out.regret += own - best;
  }
  out.regret = finite > 0 ? out.regret / finite : 0;
  return out;
}

Uncertainty uncertainty_of(const Scenario& scenario, const Ensemble& ensemble, const std::vector<Selection>& selections,
                           double level, std::uint64_t seed) {
  Uncertainty out;
  out.level = level;
  out.points = ensemble.size();
  for (std::size_t c = 0; c < ensemble.cells.size(); ++c) {
    CandidateUncertainty cell;
    cell.job = interval_of(ensemble, c, Measure::kJob, level);
    cell.iteration = interval_of(ensemble, c, Measure::kIteration, level);
    cell.spread = cell.job.low > 0 ? cell.job.high / cell.job.low : 1;
    cell.fits = fits_of(ensemble, c);
    out.cells.push_back(cell);
  }
  const auto outcomes =
      outcomes_of(ensemble, kinds_of(scenario, ensemble.cells), scenario.selection.objective, kDraws, seed);
  for (const auto& pick : selections)
    out.picks.push_back(judge_pick(outcomes, ensemble.cells, pick, scenario.selection.delta));
  return out;
}

}  // namespace slmsim
