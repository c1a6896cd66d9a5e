// Stands in for the simulator where it is asked ten thousand times: figures of an experiment as functions of its unknowns.
//
// Enters: points of a design and what was simulated there. Leaves, for any point, the logarithm of each figure: a full
// quadratic in the unknowns (of numbers with factors, their logarithms), and a Gaussian process with a squared-exponential
// kernel over what that leaves (Sacks, Welch, Mitchell and Wynn, Statistical Science 4, 1989). Its length scales follow the
// quadratic's sensitivities, times a factor of the least leave-one-out error. The error of each figure is told, and counts
// with the model's discrepancy where figures are compared with runs. Where a figure is not there at some points (a technique
// that cannot run so), a regression of whether it is there tells at which others it is not; what a plane through the others
// has there stands in, and is not judged.
#pragma once

#include <memory>

#include "sim/fit/forecast.h"
#include "sim/fit/likelihood.h"
#include "sim/fit/pilot.h"

namespace slmsim {

class Emulator {
 public:
  // `points` and `forecasts` are those of the design; at points without a forecast nothing can be timed. `measures`: of timed
  // candidates; of the others only memory is told. Errors are those at the points from `judged` on: where it matters.
  Emulator(std::vector<Unknown> unknowns, const Experiment& experiment, const std::vector<Measure>& measures,
           const std::vector<Point>& points, const std::vector<std::vector<Forecast>>& forecasts, std::size_t judged);
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  // Many points at once take a fraction of the time of each: products of matrices.
  std::vector<std::vector<Forecast>> at(const std::vector<Point>& points) const;
  // Deviation of the logarithm, as it comes out where a point of the design is left out.
  double error(std::size_t cell, Measure measure) const;
  // Likewise: of the worst of a cell's figures of speed, which all hang on one time, and of its memory.
  Discrepancy error(std::size_t cell) const;
  double worst_error() const;

 private:
  struct Parts;
  std::vector<Forecast> forecasts_of(const double* logs) const;  // one for each figure
  std::unique_ptr<Parts> parts_;
};

}  // namespace slmsim
