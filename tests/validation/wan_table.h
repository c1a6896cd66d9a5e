// Predictions beside measurements of paths and of local SGD (tests/validation/wan_facts.h).
#pragma once

#include <string>

#include "tests/validation/wan_facts.h"

namespace slmsim {

std::string to_markdown(const WanValidation& validation);
std::string to_csv(const WanValidation& validation);

}  // namespace slmsim
