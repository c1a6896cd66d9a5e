// The model of a prediction or a run, among a scenario's.
#pragma once

#include <algorithm>
#include <string>

#include "sim/scenario/scenario.h"

namespace slmsim {

// The model exists: names of predictions and runs are the scenario's own.
inline const Transformer& model_named(const Scenario& scenario, const std::string& name) {
  return *std::find_if(scenario.models.begin(), scenario.models.end(),
                       [&](const Transformer& model) { return model.name == name; });
}

}  // namespace slmsim
