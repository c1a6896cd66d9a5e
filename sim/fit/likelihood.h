// Likelihood of a measured figure, given the simulator's prediction.
//
// A time, rate or size is log-normal around its prediction, with heavy tails (Student's t with 4 degrees of freedom), so that a
// spoilt run does not distort the fit: scale^2 = discrepancy^2 + noise^2. The discrepancy is the model's own error (Kennedy and
// O'Hagan 2001), here independent between runs and itself unknown; the noise is that of a repeated run. Whether something fits
// depends on memory, predicted to within a discrepancy of its own, and occasionally on other causes.
#pragma once

#include <limits>

#include "sim/fit/pilot.h"

namespace slmsim {

struct Discrepancy {
  double time = 0.12, memory = 0.08;  // scales of logarithms
};

// Combined discrepancy of the model and its emulator.
Discrepancy together(const Discrepancy& model, const Discrepancy& stand_in);

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();  // a log-likelihood
inline constexpr double kTailFreedom = 4;
inline constexpr double kOtherCause = 0.02;  // probability that a run fails, or works, for reasons outside the model

// Log-likelihood of all figures of one run. Those of its speed share the discrepancy (a multivariate t), so that time and rate
// together determine the amount of work better than either determines the speed.
double log_likelihood(const std::vector<Pilot>& figures, const Forecast& forecast, const Discrepancy& discrepancy);

// Probability that the run fits in memory.
double probability_fits(const Forecast& forecast, const Discrepancy& discrepancy);

// Prior of the discrepancies, from one coordinate each: log-normal, 80 % within a factor of two of these. Assumed, from the
// errors of docs/validation, and not computed from them.
Discrepancy discrepancy_at(double time_coordinate, double memory_coordinate);

// Quantile of Student's t, in units of its scale.
double tail_quantile(double probability);
double tail_probability(double distance);

}  // namespace slmsim
