// On what a plan's computation rests: measured kernels, others near by, or rooflines.
#pragma once

#include <optional>

#include "sim/cost/roofline.h"
#include "sim/plan/plan.h"

namespace slmsim {

// Of one iteration on all GPUs together, without what rematerialisation repeats; nothing where no GPU of the plan has
// measured kernels.
std::optional<TimeBasis> computation_basis(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
