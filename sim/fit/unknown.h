// An unknown: a value of the scenario that a prediction needs and nobody measured, with its prior.
//
// Input: a scenario, whose values state their provenance. Output: its unknowns, each with a prior. A point of their space has
// one coordinate per unknown, which is normal with mean 0 and standard deviation 1 under the prior; text() turns it into the
// value for --set.
//
// docs/commands/fit.md lists which values are unknown, and how wide their priors are.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

struct Unknown {
  enum class Prior {
    kUniform,     // from low to high
    kLogUniform,  // the same in the logarithm
    kLogNormal,   // around `center`, with `sigma` of the logarithm, cut at low and high
    kOneOf        // all `words` equally likely
  };

  std::vector<std::string> paths;  // of the value in the scenario; several where one value applies at several places
  Prior prior = Prior::kUniform;
  double low = 0, high = 0;        // base units
  double center = 0, sigma = 0;    // for kLogNormal
  double spike = 0, spike_at = 0;  // probability that the value is exactly spike_at, beside the prior
  bool relative = false;           // the value is a factor on the one that several scenarios share under the same path
  std::vector<std::string> words;
  ValueType type;      // number format
  std::string source;  // why it is unknown, and the source of the prior

  const std::string& name() const { return paths.front(); }
  bool is_choice() const { return prior == Prior::kOneOf; }
  bool jumps() const { return is_choice() || spike > 0; }  // as its coordinate changes
  // In base units; for a choice its index.
  double number(double coordinate) const;
  // The same, but for a choice the number in its word: 0 where it is not a number.
  double figure(double coordinate) const;
  std::string word(double coordinate) const;
  std::string text(double of) const;  // for --set
  std::string prior_text() const;     // "0.1 to 0.4, by factors", "fp16 or fp32"
};

using Point = std::vector<double>;

// 80 % of a log-normal's values lie within this factor of its median: exp(1.2816 sigma).
double sigma_of_factor(double factor);

// Quantile function of the standard normal, and its inverse.
double normal_quantile(double probability);
double normal_probability(double coordinate);

// Every value that states its range, is inferred or assumed, and every default that differs between machines. Equal values at
// several places are one. `linked` is the tree that the scenario was read from.
std::vector<Unknown> unknowns_of(const Scenario& scenario, const Node& linked);

// Unknowns with the kinds of priors in docs/commands/fit.md, and those common to scenarios of any cluster.

// Format of a value: a plain number, or a quantity with its unit.
ValueType number_type(double low, double high);
ValueType quantity_type(Dimension dimension);

// Log-uniform from low to high (base units); the values at all these paths are one.
Unknown by_factors(std::vector<std::string> paths, double low, double high, const ValueType& type, const char* source);
// All words are equally likely.
Unknown one_of(std::vector<std::string> paths, std::vector<std::string> words, const char* source);

// Loss rate of a wide-area path without a stated one: mostly zero.
Unknown path_loss(std::string path);
// Socket buffers of hosts (tcp_rmem and tcp_wmem, both alike) without a stated size: mostly `usual`, in bytes.
Unknown socket_buffers(std::vector<std::string> paths, double usual);

}  // namespace slmsim
