// Fits the unknowns of scenarios to measured runs.
//
// Input: scenarios with their pilot runs, and their unknowns, shared by several scenarios or belonging to one. Output: the
// posterior, as equally likely points. Besides the unknowns, a point holds the scales of the model's own discrepancies
// (likelihood.h) in its last two coordinates.
#pragma once

#include <optional>

#include "sim/fit/emulator.h"
#include "sim/fit/forecast.h"
#include "sim/fit/sampler.h"

namespace slmsim {

struct FitRequest {
  std::vector<Experiment> experiments;     // those without cells take them from the pilots
  std::vector<std::vector<Pilot>> pilots;  // for each experiment
  std::vector<Unknown> shared;             // by all experiments
  std::vector<std::vector<Unknown>> own;   // for each experiment alone; may be empty
};

// Positions of the coordinates in a point.
class PointLayout {
 public:
  explicit PointLayout(const FitRequest& request);
  std::size_t size() const { return size_; }
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  // The values for an experiment, as overrides.
  Overrides overrides(std::size_t experiment, const Point& point) const;
  Discrepancy discrepancy(const Point& point) const;
  // An experiment's view of all unknowns: its unknowns, their coordinates, and a full point with these coordinates.
  std::vector<Unknown> seen(std::size_t experiment) const;
  Point seen(std::size_t experiment, const Point& point) const;
  Point whole(std::size_t experiment, const Point& seen) const;
  // Coordinates to be moved together: shared ones with the discrepancies, and each experiment's own. `measured`: the
  // experiments whose runs are the parts of the log-likelihood.
  std::vector<MoveBlock> blocks(const std::vector<std::size_t>& measured) const;

 private:
  std::vector<Unknown> unknowns_;  // the shared ones, then each experiment's
  std::size_t shared_ = 0, size_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> own_;  // first and past-the-end index for each experiment
  std::vector<std::vector<std::string>> each_;            // names for a * in each experiment
};

// Layout of a single experiment that has all of these unknowns.
PointLayout layout_of(const std::vector<Unknown>& unknowns);

struct Posterior {
  std::vector<Unknown> unknowns;
  std::vector<Point> points;  // equally likely; two coordinates more than unknowns
  double log_evidence = 0;
  bool complete = true;  // false: stopped before all measured figures had full weight
  std::size_t simulated = 0;
  double emulated_error = 0;  // largest relative error of an emulated figure
};

// Simulates a design of points; emulators, one per experiment (emulator.h), cover all other points and are refined three times
// with points of the resulting posterior. Throws InputError where no point of the design has a measured figure: all points
// would be equally impossible.
Posterior fit(const FitRequest& request, Forecaster& forecaster, const Sampling& sampling);

// An experiment's emulator and its design points.
class Surrogate {
 public:
  // For an experiment of the layout. Simulates a Latin hypercube of its unknowns.
  Surrogate(const PointLayout& layout, std::size_t experiment, std::vector<Measure> measures, Forecaster& forecaster,
            const Sampling& sampling);
  // Simulates more points, near the posterior, and retrains.
  void refine(const std::vector<Point>& points, Forecaster& forecaster, const std::function<bool()>& stop);
  const Emulator& emulator() const { return *emulator_; }
  // Whether the scenario is valid at any of the points, and whether a cell has the figure there (for kFits: can run).
  bool is_any() const;
  bool has(std::size_t cell, Measure measure) const;
  std::vector<std::vector<Forecast>> at(const std::vector<Point>& points) const;

 private:
  const PointLayout& layout_;
  std::size_t experiment_;
  std::vector<Measure> measures_;
  std::vector<Point> points_;  // as the experiment uses them
  std::vector<std::vector<Forecast>> forecasts_;
  std::optional<Emulator> emulator_;
};

// `count` of the points, evenly spaced.
std::vector<Point> some_of(const std::vector<Point>& points, std::size_t count);

inline constexpr std::size_t kRefined = 120;  // points that refine an emulator

// Groups the pilots by run: figures of one cell together.
std::vector<std::vector<Pilot>> runs_of(const std::vector<Pilot>& pilots);

// Posterior of an unknown compared with its prior.
struct Marginal {
  double median = 0, low = 0, high = 0;  // 80 % interval; base units; for a choice the index of its most likely word
  double left = 1;                       // share of the prior's 80 % width (in its scale); 1: no information
  std::vector<double> shares;            // for a choice: probability of each word
};
std::vector<Marginal> marginals_of(const Posterior& posterior);

// Pairs of unknowns that the runs cannot distinguish: the correlation of their coordinates exceeds `least`.
struct CorrelatedPair {
  std::size_t first = 0, second = 0;
  double correlation = 0;
};
std::vector<CorrelatedPair> correlated_pairs(const Posterior& posterior, double least = 0.7);

// Points of the prior, without any measurement.
Posterior prior_of(std::vector<Unknown> unknowns, std::size_t points, std::uint64_t seed);

}  // namespace slmsim
