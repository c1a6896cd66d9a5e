// What a prediction rests on that nobody measured or stated: to be told beside its result.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

struct Assumption {
  std::string about;  // the key that would state it: "software.stack"
  std::string text;   // a sentence with the value, its interval and what would replace it
};

// Each once: shares of the peak that are taken from kin, precisions that a GPU lacks, a software stack that was not named,
// VMs that do not say how their GPUs reach each other.
std::vector<Assumption> assumptions_of(const Scenario& scenario);

}  // namespace slmsim
