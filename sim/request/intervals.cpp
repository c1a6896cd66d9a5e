#include "sim/cli/intervals.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/fit/scenario_fit.h"
#include "sim/fit/uncertainty.h"

namespace slmsim {
namespace {

constexpr std::size_t kPoints = 9;  // beside the prediction itself: intervals take at most ten times as long

std::string path_of(const std::string& override) { return override.substr(0, override.find('=')); }

}  // namespace

void add_interval_options(CLI::App& verb, IntervalOptions& options) {
  verb.add_option("--fitted", options.fitted, "take the values of this fit (slmsim fit), and tell intervals from it");
  verb.add_flag("--intervals", options.intervals,
                "tell what each prediction is between, from what the scenario does not know");
  verb.add_option("--level", options.level, "probability that an interval holds what would be measured")
      ->capture_default_str()
      ->check(number_within(0.5, 0.99));
  verb.add_option("--seed", options.seed, "of the points that intervals come from; another seed, other points")
      ->capture_default_str();
}

IntervalMaker::IntervalMaker(const IntervalOptions& options, const ScenarioOptions& scenarios)
    : options_(options), set_(scenarios.overrides), scenarios_(scenarios) {
  const bool asked = options.intervals || !options.fitted.empty();
  if (!asked && options.level != IntervalOptions{}.level)
    throw InputError({}, "--level is of intervals; ask for them by --intervals or --fitted FILE");
  if (!asked && options.seed != IntervalOptions{}.seed)
    throw InputError({}, "--seed is of intervals; ask for them by --intervals or --fitted FILE");
  if (!options.fitted.empty() && options.seed != IntervalOptions{}.seed)
    throw InputError({}, "--seed is of points that are drawn; those of --fitted FILE stand in the file");
  if (options.fitted.empty()) return;
  if (scenarios.scenarios.size() != 1) throw InputError({}, "--fitted FILE is of one scenario; give it alone");
  bool stale = false;
  fitted_ = read_fitted(options.fitted, identity_of(link_scenario(scenarios.scenarios.front(), {}).file), stale);
  if (stale)
    fmt::print(stderr, "slmsim: {} was fitted to other files than {} is now; fit again if what changed matters\n",
               options.fitted, scenarios.scenarios.front());
  scenarios_.overrides = left_free(fitted_.centre);
  scenarios_.overrides.insert(scenarios_.overrides.end(), set_.begin(), set_.end());
}

Overrides IntervalMaker::left_free(const Overrides& overrides) const {
  Overrides out;
  for (const auto& override : overrides) {
    const bool own =
        std::any_of(set_.begin(), set_.end(), [&](const auto& text) { return path_of(text) == path_of(override); });
    if (!own) out.push_back(override);
  }
  return out;
}

Draws IntervalMaker::draws_for(const std::string& file, std::size_t most) const {
  if (!options_.fitted.empty()) {
    Draws draws = fitted_;
    for (auto& point : draws.points) point.overrides = left_free(point.overrides);
    return draws;
  }
  const LinkedScenario given = link_scenario(file, set_);
  return draws_of(prior_of(unknowns_of(given.scenario, given.linked), most, options_.seed), most);
}

void IntervalMaker::add(const std::string& file, RunResult& result) const {
  if (!options_.intervals && options_.fitted.empty()) return;
  const Draws draws = draws_for(file, kPoints);
  Experiment experiment{file, set_, {}};
  for (const auto& p : result.predictions) experiment.cells.push_back({p.model, p.technique->name, p.group});
  Forecaster forecaster({experiment});
  Ensemble ensemble = ensemble_of(draws, forecaster, kPoints);
  ensemble.runs = draws.runs;
  if (ensemble.size() == 0) return;
  result.uncertainty = uncertainty_of(result.scenario, ensemble, result.selections, options_.level, options_.seed);
  result.uncertainty->fitted_to = draws.fitted_to;
  result.uncertainty->unknowns = draws.unknowns;
}

}  // namespace slmsim
