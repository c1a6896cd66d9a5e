// What predictions are worth: an interval for each, the probability that it fits, and that a pick is right.
//
// Enters: forecasts of all cells at a few draws of a posterior (or a prior), and the model's discrepancy at each. Leaves: quantiles of the mixture of a heavy-tailed distribution around each point's forecast.
#pragma once

#include <limits>

#include "sim/fit/draws.h"
#include "sim/fit/interval.h"
#include "sim/select/algorithm.h"

namespace slmsim {

// Forecasts of some cells at points that are equally likely, or `weights`.
struct Ensemble {
  std::vector<Candidate> cells;
  std::vector<std::vector<Forecast>> forecasts;  // of each point, of each cell
  std::vector<Discrepancy> discrepancies;
  std::vector<double> weights;
  std::vector<Pilot> runs = {};       // what is known of the cells: these figures come about, whatever is forecast
  std::vector<Discrepancy> off = {};  // of each cell, what stands in for the simulator may be off; empty: nothing does

  std::size_t size() const { return forecasts.size(); }
  Discrepancy discrepancy(std::size_t point, std::size_t cell) const;  // with what a stand-in is off
  std::size_t position_of(const Candidate& cell) const;  // in `cells`; their number where it is not one of them
};

// Asks for all cells of an experiment at so many of the draws, evenly; points where the scenario cannot be are left out.
Ensemble ensemble_of(const Draws& draws, Forecaster& forecaster, std::size_t count,
                     const std::function<bool()>& stop = {}, std::size_t experiment = 0);

// Of a measure that runs of a cell would show.
Interval interval_of(const Ensemble& ensemble, std::size_t cell, Measure measure, double level);
// The median of the same.
double median_of(const Ensemble& ensemble, std::size_t cell, Measure measure);
double fits_of(const Ensemble& ensemble, std::size_t cell);

// What the objective counts: seconds, GPU-hours, or seconds per FLOP of a GPU. The less the better.
double cost_of(const Forecast& forecast, Objective objective);
// Of what does not run.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// What may come about: of each draw, each cell's cost by the objective, infinite where it does not run. Cells of the same
// technique on like GPUs share the model's discrepancy; where one of them was run, it is no longer drawn.
std::vector<std::vector<double>> outcomes_of(const Ensemble& ensemble, const std::vector<std::string>& kinds,
                                             Objective objective, std::size_t draws, std::uint64_t seed);
// Of each cell: technique and GPUs, by which discrepancies are shared.
std::vector<std::string> kinds_of(const Scenario& scenario, const std::vector<Candidate>& cells);

// How the pick does in these outcomes, among cells of its model.
PickUncertainty judge_pick(const std::vector<std::vector<double>>& outcomes, const std::vector<Candidate>& cells,
                           const Selection& pick, double delta);

Uncertainty uncertainty_of(const Scenario& scenario, const Ensemble& ensemble, const std::vector<Selection>& selections,
                           double level, std::uint64_t seed);

}  // namespace slmsim
