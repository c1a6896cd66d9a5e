// A scenario with one group of GPUs and one technique's options: what a plan is made of.
#pragma once

#include "sim/scenario/scenario.h"

namespace slmsim {

struct Way {
  Scenario scenario;
  Group group;
  TechniqueOptions options;
};

}  // namespace slmsim
