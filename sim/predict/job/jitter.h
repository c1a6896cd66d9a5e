// Iterations with GPUs and links that deviate from their mean speed: factors drawn as job.jitter states, applied to a task
// graph. Waiting is then simulated: techniques that exchange at every step wait for the slowest GPU of each, local SGD for the
// replica with the longest round.
//
// A factor has mean 1 and standard deviation s, and multiplies a time. Normal: 1 + s z. Lognormal: exp(t z - t^2 / 2), t^2 =
// ln(1 + s^2). Exponential: 1 - s + s E, so that the mean of the slowest of n is 1 - s + s H_n (H_n: harmonic number; David and
// Nagaraja, Order Statistics, section 3.1).
//
// Consecutive states form blocks, in which each factor takes a value from each of as many equally likely ranges, in an order of
// its own (Latin hypercubes: McKay, Beckman and Conover, Technometrics 21, 1979): means over states scatter less. error_of_mean
// (sim/predict/iterations.h) compares eight parts of the states, which are whole blocks.
#pragma once

#include <cstdint>

#include "sim/engine/task_graph.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// The factors of one iteration. The same for the same arguments, independent of other draws.
class JitterDraw {
 public:
  // `state`: from 0 on, the first rules.states of which are those of a job.
  JitterDraw(const JitterRules& rules, std::int64_t seed, int state);

  // Factor of a GPU's computing time in a step of a round; step 0 where a round is one step.
  double gpu(int device, int step) const;
  // Factors of a link between sites: for the time per byte, and for the round trip.
  double rate(int link) const;
  double rtt(int link) const;

  std::vector<WanLink> links(std::vector<WanLink> links) const;
  // `steps`: optimizer steps in the graph. A GPU's computing tasks are cut into this many parts with equal numbers of tasks.
  void apply(TaskGraph& graph, int steps) const;

 private:
  double share(std::uint64_t what, std::uint64_t which) const;
  double factor(const std::optional<Scatter>& scatter, std::uint64_t what, std::uint64_t which) const;

  const JitterRules& rules_;
  std::uint64_t seed_;
  std::size_t state_, block_ = 0, place_ = 0, ranges_ = 1;
};

// Lower bound of every factor: normal deviates are clipped at four standard deviations. At most 1.
double least_factor(const Scenario& scenario);

}  // namespace slmsim
