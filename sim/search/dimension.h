// The dimensions that `slmsim plan` may vary for every technique, one row each: training, NCCL and TCP. A technique's own
// variations are in sim/technique/common/technique.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/technique/common/plan.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

struct DimensionRequest {
  const Scenario& scenario;
  const TechniqueOptions& base;  // the scenario's
  const GroupFacts& group;
};

// A value is the dimension's own number; values are tried in order.
struct SharedDimension {
  std::vector<int> (*values)(const DimensionRequest&);
  // Changes to the training and the technique's options, and to everything else; absent: none.
  void (*train)(Training& training, TechniqueOptions& options, int value) = nullptr;
  void (*set)(Scenario& scenario, int value) = nullptr;
  // "2 channels"; empty: no text.
  std::string (*words)(const RunSetup& setup, int value);
  // Overrides that turn `was` into `way`; techniques' options excepted.
  void (*overrides)(const RunSetup& setup, const Scenario& was, int value, Overrides& out) = nullptr;
};

// Number of dimensions before a technique's variations, and after them.
inline constexpr std::size_t kTrainingDimensions = 3;  // micro-batches, rematerialisation, precision of gradients
inline constexpr std::size_t kSettingDimensions = 5;   // accumulated batches, sockets, channels, algorithm, TCP
std::span<const SharedDimension> training_dimensions();
std::span<const SharedDimension> setting_dimensions();

}  // namespace slmsim
