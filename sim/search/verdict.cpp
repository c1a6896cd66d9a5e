#include "sim/search/verdict.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "sim/base/work.h"
#include "sim/fit/intervals.h"
#include "sim/fit/uncertainty.h"
#include "sim/platform/network.h"
#include "sim/predict/algorithm.h"
#include "sim/search/nearest.h"
#include "sim/search/offer.h"

namespace slmsim {
namespace {

constexpr std::size_t kDraws = 24, kFewestDraws = 6;
constexpr std::size_t kOutcomes = 1000;  // drawn from these for the probability of the pick
constexpr std::uint64_t kSeed = 1;
// Rivals that may turn out better than the pick, which is predicted to within about 12 % (Discrepancy): at most this many (of
// each of several models), by this factor of its cost, or beyond the memory by this factor.
constexpr std::size_t kMostRivals = 3, kRivalsOfSeveral = 2;
constexpr double kSerious = 1.6, kNearlyFits = 1.15;
// Tasks of the draws, of one value after the other, and of suggestions, over those of the run. Then numbers of tasks that
// take hundredths of a second, and, for the fewest draws, some tenths.
constexpr double kWorkOfDraws = 2, kWorkOfValues = 2, kWorkOfSuggestions = 0.5, kLittleWork = 8000,
                 kLittleWorkOfDraws = 16000, kWorkOfFewestDraws = 600'000;
// Below this ratio of a job at both ends of a value's interval, the value does not matter.
constexpr double kMatters = 1.01;

bool is_over(const VerdictOptions& options) { return options.stop && options.stop(); }

bool same_result(const Prediction& a, const Prediction& b) { return a.job == b.job && a.iteration == b.iteration; }

std::vector<std::size_t> rows_of(const RunResult& result, const std::string& model) {
  const Objective objective = result.scenario.selection.objective;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < result.predictions.size(); ++i) {
    if (result.predictions[i].model == model && result.predictions[i].status == Status::kOk) out.push_back(i);
  }
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return cost_of(result.predictions[a], objective) < cost_of(result.predictions[b], objective);
  });
  return out;
}

std::optional<std::size_t> pick_of(const RunResult& result, std::size_t model) {
  if (model >= result.selections.size()) return std::nullopt;
  const Selection& pick = result.selections[model];
  for (std::size_t i = 0; i < result.predictions.size(); ++i) {
    const Prediction& p = result.predictions[i];
    if (pick.technique && p.model == pick.model && p.technique == pick.technique && p.group == pick.group) return i;
  }
  return std::nullopt;
}

// Rows within `factor` of the best one's cost, without those that repeat it or each other.
std::vector<std::size_t> rows_within(const RunResult& result, const Verdict& verdict, double factor) {
  const Objective objective = result.scenario.selection.objective;
  const Prediction& best = result.predictions[*verdict.best];
  std::vector<std::size_t> out;
  for (const std::size_t row : rows_of(result, verdict.model)) {
    const Prediction& p = result.predictions[row];
    const auto repeats = [&](std::size_t other) { return same_result(result.predictions[other], p); };
    // On one GPU techniques hardly differ.
    if (best.gpus == 1 && p.group == best.group) continue;
    if (row == *verdict.best || same_result(p, best) || std::any_of(out.begin(), out.end(), repeats)) continue;
    if (cost_of(p, objective) <= cost_of(best, objective) * factor) out.push_back(row);
  }
  return out;
}

std::vector<std::size_t> rivals_of(const RunResult& result, const Verdict& verdict) {
  const std::size_t most = result.scenario.models.size() > 1 ? kRivalsOfSeveral : kMostRivals;
  auto out = rows_within(result, verdict, kSerious);
  if (out.size() > most) out.resize(most);
  for (std::size_t i = 0; i < result.predictions.size() && out.size() < most; ++i) {
    const Prediction& p = result.predictions[i];
    const DeviceMemory* memory = fullest(p.memory);
    if (p.model == verdict.model && p.status == Status::kOutOfMemory && memory &&
        memory->total() < memory->limit * kNearlyFits)
      out.push_back(i);
  }
  return out;
}

// Work of a whole run, in tasks.
double work_of(const RunResult& result) {
  double out = 0;
  for (const auto& p : result.predictions) out += work_of(result.scenario, p);
  return out;
}

// Copies of a file, one per thread that uses it: each remembers what it has read.
class Files {
 public:
  explicit Files(ScenarioFile file) : original_(std::move(file)) {}

  template <class Use>
  auto with(Use use) {
    ScenarioFile own = take();
    auto out = use(own);
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(own));
    return out;
  }

 private:
  ScenarioFile take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return original_;
    ScenarioFile out = std::move(free_.back());
    free_.pop_back();
    return out;
  }

  std::mutex mutex_;
  std::vector<ScenarioFile> free_;
  const ScenarioFile original_;
};

std::vector<Candidate> cells_of(const RunResult& result, const std::vector<std::size_t>& rows) {
  std::vector<Candidate> out;
  out.reserve(rows.size());
  for (const std::size_t row : rows) out.push_back(cell_of(result.predictions[row]));
  return out;
}

// Forecasts of rows at points, by threads; coarse ones, corrected by the results where these have times. Points where the scenario
// is invalid have none. `centre`: coarse forecasts at the point of the results, found where it is empty.
std::vector<std::vector<Forecast>> forecasts_at(std::vector<Overrides> points, const RunResult& result,
                                                const std::vector<std::size_t>& rows, const VerdictOptions& options,
                                                std::vector<Forecast>& centre) {
  if (points.empty()) return {};
  const std::vector<Candidate> cells = cells_of(result, rows);
  const bool centred = !centre.empty();
  if (!centred) points.emplace_back();
  std::vector<std::vector<Forecast>> out(points.size());
  in_parallel(points.size(), options.threads, [&](std::size_t i) {
    const auto scenario = is_over(options) ? std::nullopt : options.reload(points[i]);
    if (!scenario) return;
    for (const auto& p : predict_cells(*scenario, cells, {.coarse = true})) out[i].push_back(forecast_of(p));
  });
  std::vector<Forecast> exact;
  exact.reserve(rows.size());
  for (const std::size_t row : rows) exact.push_back(forecast_of(result.predictions[row]));
  if (!centred) {
    centre = std::move(out.back());
    out.pop_back();
  }
  correct(out, centre, exact);
  return out;
}

void widen(Interval& interval, double point) {
  interval.low = std::min(interval.low, point);
  interval.high = std::max(interval.high, point);
}

// From intervals that were asked for.
void add_known(const RunResult& result, std::size_t model, Verdict& out) {
  const Uncertainty& u = *result.uncertainty;
  const CandidateUncertainty& cell = u.cells[*out.best];
  out.level = u.level;
  if (cell.job.high > 0) out.job = cell.job;
  out.fits = cell.fits;
  if (model < u.picks.size()) out.right = u.picks[model].right;
}

// False where the budget allows too few draws. Without rivals only times and memory are known, and not how sure the pick is.
bool add_drawn(const RunResult& result, const VerdictOptions& options, bool with_rivals,
               std::vector<Verdict>& verdicts) {
  std::vector<std::size_t> rows;
  for (const auto& verdict : verdicts) {
    if (!verdict.best) continue;
    rows.push_back(*verdict.best);
    if (with_rivals) std::ranges::copy(rivals_of(result, verdict), std::back_inserter(rows));
  }
  if (rows.empty()) return true;
  double work = 0;
  for (const std::size_t row : rows) work += work_of(result.scenario, result.predictions[row]);
  const double budget = std::max(kLittleWorkOfDraws, kWorkOfDraws * work_of(result));
  const std::size_t count = std::clamp(static_cast<std::size_t>(budget / work), kFewestDraws, kDraws);
  if (static_cast<double>(count) * work > std::max(budget, kWorkOfFewestDraws)) return false;
  const PointLayout layout = layout_of(options.unknowns);
  const Posterior prior = prior_of(options.unknowns, count, kSeed);
  std::vector<Overrides> points;
  for (const auto& point : prior.points) points.push_back(layout.overrides(0, point));
  std::vector<Forecast> centre;
  const auto forecasts = forecasts_at(points, result, rows, options, centre);
  if (is_over(options)) return true;
  Ensemble ensemble{.cells = cells_of(result, rows)};
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    if (forecasts[i].empty()) continue;
    ensemble.forecasts.push_back(forecasts[i]);
    ensemble.discrepancies.push_back(layout.discrepancy(prior.points[i]));
    ensemble.weights.push_back(1);
  }
  if (ensemble.size() < kFewestDraws) return true;
  const auto outcomes = outcomes_of(ensemble, kinds_of(result.scenario, ensemble.cells),
                                    result.scenario.selection.objective, kOutcomes, kSeed);
  for (std::size_t m = 0; m < verdicts.size(); ++m) {
    Verdict& verdict = verdicts[m];
    if (!verdict.best) continue;
    const std::size_t cell = ensemble.position_of(cell_of(result.predictions[*verdict.best]));
    const Interval job = interval_of(ensemble, cell, Measure::kJob, verdict.level);
    if (job.high > 0) verdict.job = job;
    verdict.fits = fits_of(ensemble, cell);
    if (!with_rivals) continue;
    verdict.right = judge_pick(outcomes, ensemble.cells, result.selections[m], result.scenario.selection.delta).right;
  }
  return true;
}

// Whether an unknown can change any of these predictions.
bool matters(const Unknown& unknown, const RunResult& result, const std::vector<std::size_t>& rows) {
  const Platform& platform = result.scenario.platform;
  return std::any_of(unknown.paths.begin(), unknown.paths.end(), [&](const std::string& path) {
    return std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
      const Prediction& p = result.predictions[row];
      const Group* group = group_of(result.scenario, p.group);
      const bool vms = group && spans_vms(platform, group->devices);
      const bool sites = vms && spans_sites(platform, group->devices);
      if (path.starts_with("techniques.")) return path.starts_with(fmt::format("techniques.{}.", p.technique->name));
      if (path.starts_with("platform.links.")) return sites;
      if (path.find(".type.tcp.") != std::string::npos || path.starts_with("platform.sites.")) return vms;
      return true;
    });
  });
}

// As the scenario has it: "1.2e-5"; the prior's centre where it does not state the value.
std::string word_of(const Scenario& scenario, const Unknown& unknown) {
  for (const auto* list : {&scenario.parameters, &scenario.defaults}) {
    for (const auto& parameter : *list) {
      if (parameter.path == unknown.name() && !parameter.value.empty()) return parameter.value;
    }
  }
  return unknown.word(0);
}

// "link wan: loss 1.2e-5".
std::string value_text(const Scenario& scenario, const Unknown& unknown) {
  const std::string &path = unknown.name(), value = word_of(scenario, unknown);
  const auto part = [&](std::size_t n) {
    std::size_t begin = 0;
    for (; n > 0; --n) begin = std::min(path.find('.', begin), path.size() - 1) + 1;
    return path.substr(begin, path.find('.', begin) - begin);
  };
  const std::string key = path.substr(path.rfind('.') + 1);
  if (path.starts_with("platform.links.")) return fmt::format("link {}: {} {}", part(2), key, value);
  if (path.starts_with("platform.sites.")) return fmt::format("site {}: {} {}", part(2), key, value);
  if (path.starts_with("platform.")) return fmt::format("{}: {} {}", part(2), key, value);
  if (path.starts_with("software.matrix_efficiency."))
    return fmt::format("products on {} at {} of the data sheet's rate", key, value);
  if (path.starts_with("techniques.")) return fmt::format("{}: {} {}", part(1), key, value);
  return fmt::format("{}: {} {}", part(0), key, value);
}

std::string program_for(const Scenario& scenario, const std::string& path) {
  for (const auto* list : {&scenario.parameters, &scenario.defaults}) {
    for (const auto& parameter : *list) {
      if (parameter.path == path && !parameter.measure.empty()) return std::string(parameter.measure);
    }
  }
  return path.starts_with("software.matrix_efficiency.") ? std::string(kCalibrate) : "";
}

// Each unknown alone at the upper end of its 80 % interval; then the one that moves a job most also at the lower end.
void add_key_assumptions(const RunResult& result, const VerdictOptions& options, std::vector<Verdict>& verdicts) {
  std::vector<std::size_t> rows;
  double work = 0;
  for (const auto& verdict : verdicts) {
    if (!verdict.best) continue;
    rows.push_back(*verdict.best);
    work += work_of(result.scenario, result.predictions[rows.back()]);
  }
  const double end = normal_quantile(0.9);
  std::vector<const Unknown*> unknowns;
  std::vector<Overrides> points;
  const auto point_of = [](const Unknown& unknown, double coordinate) {
    Overrides out;
    for (const auto& path : unknown.paths) out.push_back(path + "=" + unknown.word(coordinate));
    return out;
  };
  for (const auto& unknown : options.unknowns) {
    if (!matters(unknown, result, rows)) continue;
    unknowns.push_back(&unknown);
    points.push_back(point_of(unknown, end));
  }
  const double budget = std::max(kLittleWork, kWorkOfValues * work_of(result));
  if (rows.empty() || static_cast<double>(points.size() + rows.size()) * work > budget) return;
  std::vector<Forecast> centre;
  const auto forecasts = forecasts_at(points, result, rows, options, centre);
  std::vector<std::size_t> most(rows.size(), unknowns.size());
  points.clear();
  for (std::size_t c = 0; c < rows.size(); ++c) {
    double factor = kMatters;
    for (std::size_t u = 0; u < unknowns.size(); ++u) {
      if (forecasts[u].empty() || !forecasts[u][c].is_timed()) continue;
      const double ratio = forecasts[u][c].job / result.predictions[rows[c]].job.value;
      if (std::max(ratio, 1 / ratio) <= factor) continue;
      factor = std::max(ratio, 1 / ratio);
      most[c] = u;
    }
    points.push_back(most[c] < unknowns.size() ? point_of(*unknowns[most[c]], -end) : Overrides{});
  }
  const auto others = forecasts_at(points, result, rows, options, centre);
  if (is_over(options)) return;
  std::size_t cell = 0;
  for (auto& verdict : verdicts) {
    if (!verdict.best) continue;
    const std::size_t c = cell++, u = most[c];
    if (u >= unknowns.size() || others[c].empty() || !others[c][c].is_timed()) continue;
    const auto [low, high] = std::minmax(forecasts[u][c].job, others[c][c].job);
    verdict.key_assumption = {
        value_text(result.scenario, *unknowns[u]), {low, high}, program_for(result.scenario, unknowns[u]->name())};
  }
}

// Per model a change that makes its pick faster, if there is one.
std::vector<std::optional<Suggestion>> suggestions_of(const RunResult& result, const std::vector<Verdict>& verdicts,
                                                      const VerdictOptions& options) {
  const double all = std::max(kLittleWork, kWorkOfSuggestions * work_of(result));
  std::vector<std::optional<Suggestion>> out(verdicts.size());
  for (std::size_t m = 0; m < verdicts.size(); ++m) {
    if (!verdicts[m].best || is_over(options)) continue;
    out[m] =
        faster_than(result, result.predictions[*verdicts[m].best], all / static_cast<double>(verdicts.size()), options);
  }
  return out;
}

}  // namespace

VerdictOptions verdict_options_of(const ScenarioFile& file, const Overrides& set, const Filter& filter) {
  LinkedScenario linked = link_scenario(file, set);
  narrow(linked.scenario, filter);
  VerdictOptions out{.of_groups = !filter.groups.empty()};
  out.unknowns = unknowns_of(linked.scenario, linked.linked);
  std::vector<Override> own;
  for (const auto& text : set) own.push_back(parse_override(text));
  const auto files = std::make_shared<Files>(std::move(linked.file));
  out.reload = [files, own, filter](const Overrides& more) {
    std::vector<Override> all = own;
    for (const auto& text : more) all.push_back(parse_override(text));
    return files->with([&](ScenarioFile& one) -> std::optional<Scenario> {
      try {
        Scenario scenario = read_scenario(one.link(all), one.name());
        if (narrow(scenario, filter).empty()) return scenario;
      } catch (const InputError&) {  // an invalid combination of values
      }
      return std::nullopt;
    });
  };
  return out;
}

std::vector<Verdict> verdicts_of(const RunResult& result, const VerdictOptions& options) {
  std::vector<Verdict> out;
  for (std::size_t m = 0; m < result.scenario.models.size(); ++m) {
    Verdict& verdict = out.emplace_back();
    verdict.model = result.scenario.models[m].name;
    verdict.best = pick_of(result, m);
    if (!verdict.best) continue;
    verdict.as_good = rows_within(result, verdict, 1 + result.scenario.selection.delta);
    const Prediction& best = result.predictions[*verdict.best];
    const double most = best.gpu_hours() * (1 + result.scenario.selection.delta);
    std::erase_if(verdict.as_good, [&](std::size_t row) {
      const Prediction& p = result.predictions[row];
      return p.gpu_hours() > most || (p.fit == Fit::kAtEdge && best.fit != Fit::kAtEdge);
    });
    verdict.nearest = nearest_validated(result.scenario, best);
    if (result.uncertainty) add_known(result, m, verdict);
  }
  // Beside the draws.
  auto suggesting =
      std::async(options.threads > 1 ? std::launch::async | std::launch::deferred : std::launch::deferred,
                 [&result, &options, verdicts = out] { return suggestions_of(result, verdicts, options); });
  if (options.reload && !options.unknowns.empty()) {
    if (!result.uncertainty && !add_drawn(result, options, true, out)) add_drawn(result, options, false, out);
    add_key_assumptions(result, options, out);
  }
  auto faster = suggesting.get();  // before way_to_fit, which forks
  for (std::size_t m = 0; m < out.size(); ++m) {
    Verdict& verdict = out[m];
    verdict.faster = std::move(faster[m]);
    if (verdict.job) widen(*verdict.job, result.predictions[*verdict.best].job.value);
    if (!verdict.best && !is_over(options)) verdict.would_fit = way_to_fit(result, verdict.model, options);
  }
  return out;
}

}  // namespace slmsim
