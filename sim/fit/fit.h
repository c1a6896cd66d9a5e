// Fits what is unknown of scenarios to what was measured of them.
//
// Enters: scenarios with their pilot runs, and their unknowns, which several scenarios share or one has for itself. Leaves:
// the posterior, as points that are equally likely. Beside the unknowns a point holds the scale of the model's own
// discrepancies (likelihood.h), in its last two coordinates.
#pragma once

#include <optional>

#include "sim/fit/emulator.h"
#include "sim/fit/likelihood.h"
#include "sim/fit/sampler.h"

namespace slmsim {

struct FitRequest {
  std::vector<Experiment> experiments;     // their cells are taken from the pilots where they have none
  std::vector<std::vector<Pilot>> pilots;  // of each experiment
  std::vector<Unknown> shared;             // of all experiments
  std::vector<std::vector<Unknown>> own;   // of each experiment alone; may be empty
};

// Where the coordinates of a point stand.
class PointLayout {
 public:
  explicit PointLayout(const FitRequest& request);
  std::size_t size() const { return size_; }
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  // The values that an experiment sees.
  Overrides overrides(std::size_t experiment, const Point& point) const;
  Discrepancy discrepancy(const Point& point) const;
  // What an experiment sees of all: its unknowns, their coordinates, and a point of all that has these.
  std::vector<Unknown> seen(std::size_t experiment) const;
  Point seen(std::size_t experiment, const Point& point) const;
  Point whole(std::size_t experiment, const Point& seen) const;
  // Coordinates to be moved together: those that are shared with the discrepancies, and each experiment's own. `measured`:
  // the experiments whose runs are the parts of the log-likelihood.
  std::vector<MoveBlock> blocks(const std::vector<std::size_t>& measured) const;

 private:
  std::vector<Unknown> unknowns_;  // shared ones, then each experiment's
  std::size_t shared_ = 0, size_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> own_;  // first and behind the last of each experiment
  std::vector<std::vector<std::string>> each_;            // names for a * of each experiment
};

// Of one experiment alone, which sees all of these.
PointLayout layout_of(const std::vector<Unknown>& unknowns);

struct Posterior {
  std::vector<Unknown> unknowns;
  std::vector<Point> points;  // equally likely; two coordinates more than unknowns
  double log_evidence = 0;
  bool complete = true;  // false: it was stopped before all that was measured counted in full
  std::size_t simulated = 0;
  double emulated_error = 0;  // of the worst figure that an emulator stood in for, as a share
};

// The simulator is asked at a design of points, an emulator of each experiment (emulator.h) at all others; three times it is refined
// by points of the posterior that it led to. Throws InputError where a figure was measured that no point of the design has:
// it would make all points as impossible as each other.
Posterior fit(const FitRequest& request, Forecaster& forecaster, const Sampling& sampling);

// An experiment's emulator and the points that it was made from.
class Surrogate {
 public:
  // Of an experiment of the layout. Simulates a Latin hypercube of its unknowns.
  Surrogate(const PointLayout& layout, std::size_t experiment, std::vector<Measure> measures, Forecaster& forecaster,
            const Sampling& sampling);
  // Simulates more points, where they count, and learns from them.
  void refine(const std::vector<Point>& points, Forecaster& forecaster, const std::function<bool()>& stop);
  const Emulator& emulator() const { return *emulator_; }
  // Whether the scenario could be at any of the points, and whether a cell had the figure there (of kFits: could run).
  bool is_any() const;
  bool has(std::size_t cell, Measure measure) const;
  std::vector<std::vector<Forecast>> at(const std::vector<Point>& points) const;

 private:
  const PointLayout& layout_;
  std::size_t experiment_;
  std::vector<Measure> measures_;
  std::vector<Point> points_;  // as the experiment sees them
  std::vector<std::vector<Forecast>> forecasts_;
  std::optional<Emulator> emulator_;
};

// So many of the points, evenly.
std::vector<Point> some_of(const std::vector<Point>& points, std::size_t count);

inline constexpr std::size_t kRefined = 120;  // points that an emulator is refined by

// The pilots by their runs: figures of one cell together.
std::vector<std::vector<Pilot>> runs_of(const std::vector<Pilot>& pilots);

// What a posterior says of an unknown.
struct Narrowing {
  double median = 0, low = 0, high = 0;  // 80 % interval; base units, of a choice the position of its likeliest word
  double left = 1;                       // of the prior's 80 % width (in its scale): 1: the runs told nothing
  std::vector<double> shares;            // of a choice: probability of each word
};
std::vector<Narrowing> narrowings_of(const Posterior& posterior);

// Pairs of unknowns that the runs could not tell apart: their coordinates' correlation is beyond `least`.
struct Entangled {
  std::size_t first = 0, second = 0;
  double correlation = 0;
};
std::vector<Entangled> entangled_in(const Posterior& posterior, double least = 0.7);

// Of weighted values, where so much of the weight lies below.
double weighted_quantile(const std::vector<double>& values, const std::vector<double>& weights, double probability);

// As if nothing had been measured: points of the prior.
Posterior prior_of(std::vector<Unknown> unknowns, std::size_t points, std::uint64_t seed);

}  // namespace slmsim
