// Values of a scenario that say nothing about its own cluster: those whose files mark them as typical, inferred or guessed, and
// defaults of keys that a program measures. Adds one sentence per VM type, link, site, technique and section, and measuring
// program, with the predictions it bears on.
#pragma once

#include <vector>

#include "sim/predict/assumption.h"

namespace slmsim {

std::vector<Assumption> unmeasured_of(const Scenario& scenario);

}  // namespace slmsim
