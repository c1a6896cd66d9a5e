#include "sim/fit/intervals.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/work.h"
#include "sim/fit/uncertainty.h"

namespace slmsim {
namespace {

constexpr std::size_t kPoints = 9;  // without a fit

std::string path_of(const std::string& override) { return override.substr(0, override.find('=')); }

Draws draws_of_unknown(const LinkedScenario& given, std::size_t most, std::uint64_t seed) {
  Draws out = draws_of(prior_of(unknowns_of(given.scenario, given.linked), most, seed), most);
  out.centre.clear();  // the stated values, as the prediction itself
  return out;
}

// Makes the median of a fit's points the prediction: the centre's values predict another time where times are not linear in
// the unknowns.
void take_medians(const Ensemble& ensemble, RunResult& result) {
  for (std::size_t c = 0; c < result.predictions.size(); ++c) {
    Prediction& p = result.predictions[c];
    const Seconds job{median_of(ensemble, c, Measure::kJob)}, iteration{median_of(ensemble, c, Measure::kIteration)};
    if (!p.is_timed() || p.job <= Seconds{0} || job <= Seconds{0} || iteration <= Seconds{0}) continue;
    scale_times(p, iteration / p.iteration);
    p.job = job;
    for (const auto& group : result.scenario.groups) {
      if (group.names == p.group) p.bill = bill_of(result.scenario, group, job);
    }
  }
  select_again(result);
}

// Predicts the result's cells at the draws. Throws Stopped.
void judge(Experiment experiment, const Draws& draws, const IntervalRequest& request, RunResult& result,
           const std::function<bool()>& stop) {
  for (const auto& p : result.predictions) experiment.cells.push_back({p.model, p.technique->name, p.group});
  Forecaster forecaster({std::move(experiment)}, true);
  const std::vector<Forecast> exact = forecasts_of(result.predictions);
  const bool fitted = !draws.fitted_to.empty();
  Ensemble ensemble = ensemble_of(draws, forecaster, fitted ? kFittedPoints : kPoints, stop, 0, exact);
  stop_if(stop);
  StandingRuns standing = standing_runs(draws, ensemble.cells, exact);
  ensemble.runs = std::move(standing.runs);
  if (ensemble.size() == 0)
    throw InputError({}, fmt::format("no intervals: the scenario is invalid at all {} points of {}",
                                     draws.points.size(), fitted ? "the fit; fit again" : "what is unknown"));
  if (fitted) take_medians(ensemble, result);
  result.uncertainty = uncertainty_of(result.scenario, ensemble, result.selections, request.level, request.seed);
  result.uncertainty->fitted_to = draws.fitted_to;
  result.uncertainty->unknowns = draws.unknowns;
  result.uncertainty->remarks = std::move(standing.remarks);
}

constexpr double kLevel = 0.8;

// Measured and fitted figures of the runs, over some points.
std::vector<Residual> residuals_of(const Posterior& posterior, const std::vector<Pilot>& pilots,
                                   Forecaster& forecaster) {
  const Draws draws = draws_of(posterior, kFittedPoints);
  const Ensemble ensemble = ensemble_of(draws, forecaster, draws.points.size());
  const std::vector<Forecast> centre = forecaster.ask({{0, draws.centre, true}}).front();
  std::vector<Residual> out;
  for (const auto& pilot : pilots) {
    Residual residual{pilot};
    const std::size_t cell = ensemble.position_of(pilot.cell);
    if (!centre.empty()) residual.centre = figure_of(centre[cell], pilot.measure);
    if (pilot.measure == Measure::kFits) {
      residual.predicted = fits_of(ensemble, cell) > 0.5 ? 1 : 0;
    } else {
      residual.predicted = median_of(ensemble, cell, pilot.measure);
      const Interval interval = interval_of(ensemble, cell, pilot.measure, kLevel);
      residual.low = interval.low;
      residual.high = interval.high;
    }
    out.push_back(residual);
  }
  return out;
}

}  // namespace

Intervals::Intervals(const IntervalRequest& request, const std::string& file, const Overrides& set)
    : request_(request), set_(set), overrides_(set) {
  check_within("level", request.level, kLevelRange);
  if (request.fitted.empty()) return;
  fitted_ = read_fitted(request.fitted, identity_of(link_scenario(file, {}).file), stale_);
  overrides_ = left_free(fitted_.centre);
  overrides_.insert(overrides_.end(), set_.begin(), set_.end());
  try {
    const LinkedScenario given = link_scenario(file, overrides_);
    unfitted_ = unknowns_of(given.scenario, given.linked);
  } catch (const InputError& refused) {
    link_scenario(file, set_);  // throws where the user's file is invalid
    throw InputError(whole_of(request.fitted), fmt::format("its values are invalid for {} ({}); fit that scenario",
                                                           file, refused.errors().front().text));
  }
}

Overrides Intervals::left_free(const Overrides& overrides) const {
  Overrides out;
  for (const auto& override : overrides) {
    if (!is_set(path_of(override))) out.push_back(override);
  }
  return out;
}

bool Intervals::is_set(const std::string& path) const {
  return std::ranges::any_of(set_, [&](const auto& text) {
    const std::string set = path_of(text);
    return path == set || path.starts_with(set + ".");
  });
}

void Intervals::add_unfitted(Draws& draws) const {
  if (unfitted_.empty()) return;
  const PointLayout layout = layout_of(unfitted_);
  const Posterior prior = prior_of(unfitted_, draws.points.size(), request_.seed);
  for (std::size_t i = 0; i < draws.points.size(); ++i) {
    const Overrides drawn = layout.overrides(0, prior.points[i]);
    draws.points[i].overrides.insert(draws.points[i].overrides.end(), drawn.begin(), drawn.end());
  }
  for (const auto& u : unfitted_)
    draws.unknowns.push_back(fmt::format("{}: {} (not fitted)", u.name(), u.prior_text()));
}

Draws Intervals::draws_for(const std::string& file, std::size_t most) const {
  if (!request_.fitted.empty()) {
    Draws draws = fitted_;
    for (auto& point : draws.points) point.overrides = left_free(point.overrides);
    draws.centre = left_free(draws.centre);
    std::erase_if(draws.unknowns, [&](const std::string& text) { return is_set(text.substr(0, text.find(": "))); });
    add_unfitted(draws);
    return draws;
  }
  return draws_of_unknown(link_scenario(file, set_), most, request_.seed);
}

void Intervals::add(const std::string& file, RunResult& result, const std::function<bool()>& stop) const {
  if (!request_.asked()) return;
  judge({file, set_, {}}, draws_for(file, kPoints), request_, result, stop);
}

void add_intervals(const ScenarioText& text, const Overrides& set, RunResult& result) {
  const IntervalRequest usual;
  Experiment experiment{text.file, set, {}};
  experiment.text = text;
  judge(std::move(experiment), draws_of_unknown(link_scenario(ScenarioFile(text), set), kPoints, usual.seed), usual,
        result, {});
}

LinkedScenario link_scenario(const std::filesystem::path& file, const Overrides& overrides) {
  return link_scenario(ScenarioFile(file), overrides);
}

LinkedScenario link_scenario(ScenarioFile file, const Overrides& overrides) {
  std::vector<Override> parsed;
  for (const auto& text : overrides) parsed.push_back(parse_override(text));
  LinkedScenario out{std::move(file), {}, {}};
  out.linked = out.file.link(parsed);
  out.scenario = read_scenario(out.linked, out.file.name());
  return out;
}

FitReport fit_scenario(const ScenarioFit& request) {
  check_within("points", static_cast<double>(request.sampling.particles), kPointsRange);
  LinkedScenario given = link_scenario(request.file, request.overrides);
  FitRequest fitted;
  fitted.shared = unknowns_of(given.scenario, given.linked);
  const auto of_work = [](const std::string& path) { return path.starts_with("training."); };
  const bool work_is_known =
      std::ranges::none_of(fitted.shared, [&](const Unknown& one) { return std::ranges::any_of(one.paths, of_work); });
  const auto pilots = read_pilots(request.measured, given.scenario, work_is_known);
  Experiment experiment{request.file, request.overrides, {}};
  for (const auto& run : runs_of(pilots)) experiment.cells.push_back(run.front().cell);
  fitted.experiments = {experiment};
  fitted.pilots = {pilots};
  if (fitted.shared.empty())
    throw InputError(given.linked.place,
                     "the scenario has no unknowns; state the range of a value: {value: 8, between: [4, 32]}");
  Forecaster forecaster(fitted.experiments, true);
  FitReport out;
  out.scenario = given.scenario.name;
  out.identity = identity_of(link_scenario(request.file, {}).file);
  out.measured = request.measured.string();
  out.seed = request.sampling.seed;
  out.posterior = fit(fitted, forecaster, request.sampling);
  out.residuals = residuals_of(out.posterior, pilots, forecaster);
  return out;
}

}  // namespace slmsim
