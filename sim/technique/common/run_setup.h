// A scenario with one group of GPUs and one technique's options: the input of a plan.
#pragma once

#include "sim/scenario/scenario.h"

namespace slmsim {

struct RunSetup {
  Scenario scenario;
  Group group;
  TechniqueOptions options;
};

}  // namespace slmsim
