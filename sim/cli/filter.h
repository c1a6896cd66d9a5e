// Leaves of a scenario what --model, --group and --technique ask for.
#pragma once

#include <string>

#include "sim/cli/scenarios.h"

namespace slmsim {

// What the scenario lacks, in a sentence that names what it has; empty where it has all that is asked for.
std::string narrow(Scenario& scenario, const Filter& filter);

}  // namespace slmsim
