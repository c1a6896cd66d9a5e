// Uncertainty of predictions: an interval for each, the probability that it fits, and that a pick is right.
//
// Input: forecasts of all cells at a few draws of a posterior (or a prior), and the model's discrepancy at each. Output:
// quantiles of a mixture of heavy-tailed distributions around each point's forecast.
#pragma once

#include <limits>

#include "sim/fit/draws.h"
#include "sim/predict/algorithm.h"
#include "sim/predict/interval.h"

namespace slmsim {

// Forecasts of some cells at points that are equally likely, or weighted by `weights`.
struct Ensemble {
  std::vector<Candidate> cells;
  std::vector<std::vector<Forecast>> forecasts;  // for each point and cell
  std::vector<Discrepancy> discrepancies;
  std::vector<double> weights;
  std::vector<Pilot> runs = {};       // measured figures of the cells; they override forecasts
  std::vector<Discrepancy> off = {};  // for each cell, the emulator's error; empty: no emulator

  std::size_t size() const { return forecasts.size(); }
  Discrepancy discrepancy(std::size_t point, std::size_t cell) const;  // including the emulator's error
  std::size_t position_of(const Candidate& cell) const;                // index in `cells`; their number if absent
};

// Multiplies coarse forecasts (PredictOptions::coarse) at any points, each of all cells or empty, by each cell's ratio of exact to
// coarse at one point.
void correct(std::vector<std::vector<Forecast>>& forecasts, const std::vector<Forecast>& coarse,
             const std::vector<Forecast>& exact);

// Forecasts all cells of an experiment at `count` of the draws, evenly spaced; points where the scenario is invalid are left
// out. A coarse forecaster's are corrected by the ratio of exact to coarse at the draws' centre. `exact`: the exact forecasts there,
// where they are known.
Ensemble ensemble_of(const Draws& draws, Forecaster& forecaster, std::size_t count,
                     const std::function<bool()>& stop = {}, std::size_t experiment = 0,
                     const std::vector<Forecast>& exact = {});

// Interval of a measure for runs of a cell.
Interval interval_of(const Ensemble& ensemble, std::size_t cell, Measure measure, double level);
// Median of the same.
double median_of(const Ensemble& ensemble, std::size_t cell, Measure measure);
double fits_of(const Ensemble& ensemble, std::size_t cell);

// The cost that an objective minimises: seconds, GPU-hours, or seconds per FLOP of a GPU.
double cost_of(const Forecast& forecast, Objective objective);
// Cost of a cell that does not run.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Drawn outcomes: for each draw, each cell's cost by the objective, infinite where it does not run. Cells of the same technique
// on equal GPUs share the model's discrepancy; where one of them was run, the discrepancy is not drawn. `points`: is given the
// ensemble's point of each draw.
std::vector<std::vector<double>> outcomes_of(const Ensemble& ensemble, const std::vector<std::string>& kinds,
                                             Objective objective, std::size_t draws, std::uint64_t seed,
                                             std::vector<std::size_t>* points = nullptr);
// Kind of each cell: technique and GPUs, or one GPU with any technique; cells of a kind share discrepancies.
std::vector<std::string> kinds_of(const Scenario& scenario, const std::vector<Candidate>& cells);

// Evaluates the pick in these outcomes, among cells of its model.
PickUncertainty judge_pick(const std::vector<std::vector<double>>& outcomes, const std::vector<Candidate>& cells,
                           const Selection& pick, double delta);

Uncertainty uncertainty_of(const Scenario& scenario, const Ensemble& ensemble, const std::vector<Selection>& selections,
                           double level, std::uint64_t seed);

}  // namespace slmsim
