// Iterations in which GPUs and links are not as fast as on the mean: factors drawn from what job.jitter states, laid on a task
// graph. Who waits for whom is then simulated: techniques that exchange at every step wait for the slowest GPU of each, local
// SGD for the replica whose round is longest.
//
// A factor has mean 1 and standard deviation s, and multiplies a time. Normal: 1 + s z. Lognormal: exp(t z - t^2 / 2), t^2 =
// ln(1 + s^2). Exponential: 1 - s + s E, so that the slowest of n is 1 - s + s H_n on the mean (H_n: harmonic number; David
// and Nagaraja, Order Statistics, section 3.1).
#pragma once

#include <cstdint>

#include "sim/graph/task_graph.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Of one iteration. The same for the same arguments, whatever else is drawn.
class JitterDraw {
 public:
  JitterDraw(const JitterRules& rules, std::int64_t seed, int state)
      : rules_(rules), seed_(static_cast<std::uint64_t>(seed)), state_(static_cast<std::uint64_t>(state)) {}

  // Of what a GPU computes in a step of a round; 0 where a round is one step.
  double gpu(int device, int step) const;
  // Of a link between sites: the time per byte, and the round trip.
  double rate(int link) const;
  double rtt(int link) const;

  std::vector<WanLink> links(std::vector<WanLink> links) const;
  // `steps`: optimizer steps in the graph. A GPU's computations are cut into as many parts of as many tasks.
  void apply(TaskGraph& graph, int steps) const;

 private:
  double factor(const std::optional<Scatter>& scatter, std::uint64_t what, std::uint64_t which) const;

  const JitterRules& rules_;
  std::uint64_t seed_, state_;
};

// Nothing is drawn below it: normal deviates are clipped at four standard deviations. At most 1.
double least_factor(const Scenario& scenario);

}  // namespace slmsim
