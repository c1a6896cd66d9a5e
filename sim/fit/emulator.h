// Emulator of the simulator for tens of thousands of evaluations: figures of an experiment as functions of its unknowns.
//
// Input: points of a design and their simulated figures. Output, for any point: the logarithm of each figure, as a full
// quadratic in the unknowns (in their logarithms, where they scale by factors) plus a Gaussian process with a
// squared-exponential kernel over the residual (Sacks, Welch, Mitchell and Wynn, Statistical Science 4, 1989). Its length
// scales follow the quadratic's sensitivities, times the factor with the smallest leave-one-out error. The error of each figure
// is returned, and adds to the model's discrepancy where figures are compared with runs. Where a figure is missing at some
// points (a technique that cannot run there), a regression of its presence predicts where else it is missing; values of a plane
// through the other points replace it, and are not judged.
#pragma once

#include <memory>

#include "sim/fit/forecast.h"
#include "sim/fit/sampler.h"
#include "sim/fit/pilot.h"

namespace slmsim {

class Emulator {
 public:
  // `points` and `forecasts`: the design; at points without a forecast nothing can be timed. `measures`: those of timed
  // candidates; the others have memory only. Errors are those at the points from `judged` on, near the posterior.
  Emulator(std::vector<Unknown> unknowns, const Experiment& experiment, const std::vector<Measure>& measures,
           const std::vector<Point>& points, const std::vector<std::vector<Forecast>>& forecasts, std::size_t judged);
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  // Evaluates many points at once, by matrix products, in a fraction of the time of single calls.
  std::vector<std::vector<Forecast>> at(const std::vector<Point>& points) const;
  // Standard deviation of the logarithm, by leaving out single points of the design.
  double error(std::size_t cell, Measure measure) const;
  // The same for a cell: the worst of its figures of speed, which all depend on one time, and its memory.
  Discrepancy error(std::size_t cell) const;
  double worst_error() const;

 private:
  struct Parts;
  std::vector<Forecast> forecasts_of(const double* logs) const;  // one logarithm per figure
  std::unique_ptr<Parts> parts_;
};

}  // namespace slmsim
