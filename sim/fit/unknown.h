// What a prediction needs and nobody knows: a value of the scenario, and what it may be.
//
// Enters: a scenario, whose values say where they come from. Leaves: its unknowns, each with a prior. A point of their space
// has one coordinate per unknown, which is normal with mean 0 and deviation 1 before anything is measured; `word` makes of
// it the value as --set would have it.
//
// Which values are unknown, and how wide their priors are, tells docs/fit.md.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

struct Unknown {
  enum class Prior {
    kUniform,     // from low to high
    kLogUniform,  // likewise, by factors
    kLogNormal,   // around `center`, with `sigma` of the logarithm, cut at low and high
    kOneOf        // each of `words` as likely
  };

  std::vector<std::string> paths;  // of the value in the scenario; several where one statement stands at several places
  Prior prior = Prior::kUniform;
  double low = 0, high = 0;        // base units
  double center = 0, sigma = 0;    // of kLogNormal
  double spike = 0, spike_at = 0;  // probability that the value is exactly so, apart from what the prior says
  bool relative = false;           // the value is a factor of the one that several scenarios share under the same path
  std::vector<std::string> words;
  ValueType type;      // how numbers are written
  std::string source;  // why it is unknown, and whence the prior is

  const std::string& name() const { return paths.front(); }
  bool is_choice() const { return prior == Prior::kOneOf; }
  bool jumps() const { return is_choice() || spike > 0; }  // as its coordinate moves on
  // In base units; of a choice its position.
  double number(double coordinate) const;
  // Likewise, but of a choice what its word says: 0 where that is no number.
  double figure(double coordinate) const;
  std::string word(double coordinate) const;
  std::string text(double of) const;  // as --set would have it
  std::string prior_text() const;     // "0.1 to 0.4, by factors", "fp16 or fp32"
};

using Point = std::vector<double>;

// Eight of ten values of a log-normal lie within this factor of its median: exp(1.2816 sigma).
double sigma_of_factor(double factor);

// The coordinate below which a value of a standard normal lies with this probability, and back.
double normal_quantile(double probability);
double normal_probability(double coordinate);

// Every value that states what it may be, is inferred or assumed, and what the scenario leaves to a default that differs
// between machines. Those that stand alike at several places are one. `linked` is the tree that the scenario was read from.
std::vector<Unknown> unknowns_of(const Scenario& scenario, const Node& linked);

}  // namespace slmsim
