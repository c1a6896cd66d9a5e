#include "sim/fit/scenario_fit.h"

#include <algorithm>

#include "sim/fit/uncertainty.h"

namespace slmsim {
namespace {

constexpr double kLevel = 0.8;

// Measured and fitted figures of the runs, over some points.
std::vector<Residual> residuals_of(const Posterior& posterior, const std::vector<Pilot>& pilots,
                                   Forecaster& forecaster) {
  const Draws draws = draws_of(posterior, kFittedPoints);
  const Ensemble ensemble = ensemble_of(draws, forecaster, draws.points.size());
  std::vector<Residual> out;
  for (const auto& pilot : pilots) {
    Residual residual{pilot, 0, 0, 0};
    const std::size_t cell = ensemble.position_of(pilot.cell);
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
  LinkedScenario given = link_scenario(request.file, request.overrides);
  const auto pilots = read_pilots(request.measured, given.scenario);
  FitRequest fitted;
  Experiment experiment{request.file, request.overrides, {}};
  for (const auto& run : runs_of(pilots)) experiment.cells.push_back(run.front().cell);
  fitted.experiments = {experiment};
  fitted.pilots = {pilots};
  fitted.shared = unknowns_of(given.scenario, given.linked);
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
