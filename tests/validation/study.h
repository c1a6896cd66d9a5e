// Shared parts of the comparisons with published studies.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// The values marked `inferred` in a study's scenarios, each once.
std::vector<Parameter> fitted_values(const std::vector<const Scenario*>& scenarios);

}  // namespace slmsim
