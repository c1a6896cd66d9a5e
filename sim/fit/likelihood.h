// How likely a measured figure is where the simulator predicts another.
//
// A time, rate or size is log-normal around its prediction, with heavy tails (Student's t with 4 degrees of freedom), so that
// a spoilt run does not bend everything: scale^2 = discrepancy^2 + noise^2. The discrepancy is what the model itself misses
// (Kennedy and O'Hagan 2001), here independent between runs and unknown like the rest; the noise is that of a run repeated.
// Whether something fits hangs on memory that is predicted to within a discrepancy of its own, and now and then on
// something else.
#pragma once

#include <limits>

#include "sim/fit/pilot.h"

namespace slmsim {

struct Discrepancy {
  double time = 0.12, memory = 0.08;  // scales of logarithms
};

// What the model misses, and what stands in for it misses of the model.
Discrepancy together(const Discrepancy& model, const Discrepancy& stand_in);

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();  // a likelihood
inline constexpr double kTailFreedom = 4;
inline constexpr double kOtherCause = 0.02;  // that a run fails, or works, for reasons that no model has

// Of all figures of one run. Those of its speed share the discrepancy (a multivariate t), so that time and rate together
// tell how much work was done better than either tells the speed.
double log_likelihood(const std::vector<Pilot>& figures, const Forecast& forecast, const Discrepancy& discrepancy);

// That the run fits in memory.
double probability_fits(const Forecast& forecast, const Discrepancy& discrepancy);

// Prior of the discrepancies, from a coordinate each: log-normal, eight of ten within a factor of two of these. Assumed,
// from the errors of docs/validation, and not computed from them.
Discrepancy discrepancy_at(double time_coordinate, double memory_coordinate);

// Of Student's t, in units of its scale.
double tail_quantile(double probability);
double tail_probability(double distance);

}  // namespace slmsim
