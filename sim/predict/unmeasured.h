// The values of a scenario that are no statement about its cluster: those whose files say that they are typical, inferred or
// guessed, and defaults of keys that something measures. Leaves one sentence per VM type, link, site, technique and section, of
// what one program measures, and which predictions it bears on.
#pragma once

#include <vector>

#include "sim/predict/assumption.h"

namespace slmsim {

std::vector<Assumption> unmeasured_of(const Scenario& scenario);

}  // namespace slmsim
