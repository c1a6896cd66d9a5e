// How fast a GPU is at a model, for splitting work among unequal ones.
#pragma once

#include "sim/cost/roofline.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Forward and backward through undivided operators, by the roofline: of one operator, and of the whole model.
Seconds time_of_sequence(const Operator& op, const Gpu& gpu, const Scenario& scenario);
Seconds time_of_sequence(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario);

}  // namespace slmsim
