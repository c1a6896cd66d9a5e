// Draws from a distribution that is known point by point: a tempered sequential Monte Carlo sampler.
//
// Input: a log-likelihood over points whose coordinates are standard normal under the prior. Output: equally weighted points of
// the posterior. A Latin hypercube of the prior (McKay et al. 1979) is moved to the posterior over likelihood^beta, with beta
// from 0 to 1 in steps that keep half of the particles effective (Del Moral, Doucet and Jasra 2006; Beskos et al. 2016);
// particles are resampled, and moved by differential evolution (ter Braak 2006): differences of other particles are proposals
// of the right size and direction, also from one mode to another. A proposal changes some coordinates only, as in DREAM (Vrugt
// et al. 2009), because moves of twenty at once are rejected. Jumping coordinates, such as choices, are redrawn now and then,
// one at a time. Where the log-likelihood is a sum of parts, coordinates that affect only some parts are moved, and accepted,
// by those alone.
//
// The simulator has no derivatives, its answers jump where a plan or a protocol changes, and often several explanations fit the
// same runs: so neither a Gaussian around an optimum (NLopt, Ceres) nor Hamiltonian Monte Carlo applies.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "sim/base/hash.h"
#include "sim/fit/pilot.h"
#include "sim/fit/unknown.h"

namespace slmsim {

// Random numbers that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  double uniform();                      // in (0, 1)
  double normal();                       // standard deviation 1
  std::size_t below(std::size_t count);  // 0 to count - 1

 private:
  SplitMix64 bits_;
};

// Coordinates that move together, and the parts of the log-likelihood that they affect.
struct MoveBlock {
  std::vector<std::size_t> coordinates, parts;
};

struct Target {
  std::size_t dimensions = 0, parts = 1;
  std::vector<bool> jumps;        // for each coordinate: whether it is a choice between words, or has a spike
  std::vector<MoveBlock> blocks;  // empty: all at once
  // Log-likelihoods of a part at points, -infinity where impossible; may return early once stopped.
  std::function<std::vector<double>(const std::vector<Point>&, std::size_t part)> log_likelihood;
};

inline constexpr Range<double> kPointsRange{16, 100'000};

struct Sampling {
  std::size_t particles = 256;  // in kPointsRange
  int sweeps = 24;              // over the blocks, after each step of beta
  std::uint64_t seed = 1;
  std::function<bool()> stop = {};
  std::function<void(double beta, std::size_t evaluated)> progress = {};
};

struct Sample {
  std::vector<Point> points;
  std::vector<double> log_likelihood;
  double log_evidence = 0;  // log of the evidence: data given the prior
  double beta = 0;          // 1; less where it was stopped earlier
  std::size_t evaluations = 0;
};

Sample draw(const Target& target, const Sampling& sampling);

// exp(step * l) of log-likelihoods, relative to the largest; all equal where nothing is possible.
std::vector<double> weights_of(const std::vector<double>& log_likelihood, double step = 1);

// A point in each of `count` equally likely slices of every coordinate.
std::vector<Point> latin_hypercube(std::size_t count, std::size_t dimensions, Dice& dice);

// `count` indices, each as often as its weight says, evenly (systematic resampling).
std::vector<std::size_t> resampled(const std::vector<double>& weights, std::size_t count, double offset);

// Likelihood of a measured figure, given the simulator's prediction.
//
// A time, rate or size is log-normal around its prediction, with heavy tails (Student's t with 4 degrees of freedom), so that a
// spoilt run does not distort the fit: scale^2 = discrepancy^2 + noise^2. The discrepancy is the model's own error (Kennedy and
// O'Hagan 2001), here independent between runs and itself unknown; the noise is that of a repeated run. Whether something fits
// depends on memory, predicted to within a discrepancy of its own, and occasionally on other causes.

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
