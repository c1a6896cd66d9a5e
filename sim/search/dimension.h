// What `slmsim plan` may vary of every technique, one row each: training, NCCL and TCP. What it may vary of a technique's own
// options, the technique says (sim/technique/variation.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/technique/technique.h"
#include "sim/technique/variation.h"
#include "sim/technique/way.h"

namespace slmsim {

struct DimensionRequest {
  const Scenario& scenario;
  const TechniqueOptions& base;  // as the scenario has them
  const GroupFacts& group;
};

// A value is a number of the dimension's own, in the order in which values are tried.
struct SharedDimension {
  std::vector<int> (*values)(const DimensionRequest&);
  // What it changes of the training and of the technique's options, and of all else; absent: nothing.
  void (*train)(Training& training, TechniqueOptions& options, int value) = nullptr;
  void (*set)(Scenario& scenario, int value) = nullptr;
  // "2 channels"; empty: nothing to say.
  std::string (*words)(const Way& way, int value);
  // Texts of overrides that make of `was` what `way` has; techniques' options excepted.
  void (*overrides)(const Way& way, const Scenario& was, int value, Overrides& out) = nullptr;
};

// Those that come before a technique's variations, and those behind them.
inline constexpr std::size_t kTrainingDimensions = 3;  // micro-batches, rematerialisation, precision of gradients
inline constexpr std::size_t kSettingDimensions = 5;   // batches added up, sockets, channels, algorithm, TCP
std::span<const SharedDimension> training_dimensions();
std::span<const SharedDimension> setting_dimensions();

}  // namespace slmsim
