// Draws from a distribution that is known point by point: a tempered sequential Monte Carlo sampler.
//
// Enters: a log-likelihood over points whose coordinates are standard normals beforehand. Leaves: equally weighted points of
// the posterior. A Latin hypercube of the prior (McKay et al. 1979) is taken to the posterior over likelihood^beta, beta from
// 0 to 1 in steps that keep half of the particles effective (Del Moral, Doucet and Jasra 2006; Beskos et al. 2016),
// resampled, and moved by differential evolution (ter Braak 2006): differences of other particles are proposals of the
// right size and direction, also from one mode to another; of some coordinates at a time, as in DREAM (Vrugt et al. 2009), since
// moves of twenty at once are refused. Coordinates that jump, as choices do, are now and then drawn anew, one at a time.
// Where the log-likelihood is a sum of parts, coordinates that reach only some parts are moved, and accepted, by those alone.
//
// The simulator has no derivatives, its answers jump where a plan or a protocol changes, and several explanations of the same
// runs are usual: so neither a Gaussian around an optimum (NLopt, Ceres), nor Hamiltonian Monte Carlo.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/splitmix.h"
#include "sim/fit/unknown.h"

namespace slmsim {

// Numbers of distributions that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  double uniform();                      // in (0, 1)
  double normal();                       // deviation 1
  std::size_t below(std::size_t count);  // 0 to count - 1

 private:
  SplitMix64 bits_;
};

// Coordinates that are moved together, and the parts of the log-likelihood that they reach.
struct MoveBlock {
  std::vector<std::size_t> coordinates, parts;
};

struct Target {
  std::size_t dimensions = 0, parts = 1;
  std::vector<bool> jumps;  // of each coordinate: whether it chooses among words, or has a value of its own likelihood
  std::vector<MoveBlock> blocks;  // empty: all at once
  // A part's log-likelihoods of points, -infinity where impossible; may be cut short once stopped.
  std::function<std::vector<double>(const std::vector<Point>&, std::size_t part)> log_likelihood;
};

struct Sampling {
  std::size_t particles = 256;
  int sweeps = 24;  // over the blocks, after each step of beta
  std::uint64_t seed = 1;
  std::function<bool()> stop = {};
  std::function<void(double beta, std::size_t evaluated)> progress = {};
};

struct Sample {
  std::vector<Point> points;
  std::vector<double> log_likelihood;
  double log_evidence = 0;  // of the data, over the prior
  double beta = 0;          // 1; less where it was stopped before
  std::size_t evaluations = 0;
};

Sample draw(const Target& target, const Sampling& sampling);

// exp(step * l) of log-likelihoods, relative to the largest; all alike where nothing is possible.
std::vector<double> weights_of(const std::vector<double>& log_likelihood, double step = 1);

// A point in each of `count` equally likely slices of every coordinate.
std::vector<Point> latin_hypercube(std::size_t count, std::size_t dimensions, Dice& dice);

// Positions of `count` items, each as often as its weight says, evenly (systematic resampling).
std::vector<std::size_t> resampled(const std::vector<double>& weights, std::size_t count, double offset);

}  // namespace slmsim
