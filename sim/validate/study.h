// What the comparisons with published studies share.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// The values of a study's scenarios that are marked `inferred`, each once.
std::vector<Parameter> fitted_values(const std::vector<const Scenario*>& scenarios);

}  // namespace slmsim
