// The tasks of a plan with equal GPUs merged (sim/engine/fold.h), so that the work of equal replicas, tensor-parallel ranks and
// edges of rings is simulated once.
#pragma once

#include "sim/technique/common/lower.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

// Task graph of the plan by its technique, for its times. Devices are merged where the times are proved to stay the same: first
// all that may be equal, then fewer, as the plan's connections tell them apart, down to the whole graph.
Lowered lower_alike(const LowerRequest& request);
// The same, beginning with `colours` if there are any, and leaves those that held there: those of another number of
// micro-batches of the plan usually hold too.
Lowered lower_alike(const LowerRequest& of, Colouring& colours);

}  // namespace slmsim
