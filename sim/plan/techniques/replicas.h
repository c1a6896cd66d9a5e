// The plan that Data and ZeRO-2 share: one stage, every operator divided by sequences.
#pragma once

#include "sim/plan/techniques/technique_plan.h"

namespace slmsim {

PlanResult plan_replicas(const PlanRequest& request);

// The same for PyTorch and DeepSpeed, which take all of a GPU's sequences at once; refuses what the nodes do not have.
PlanResult plan_replicas(const PlanRequest& request, const ReplicaPlan& replicas);

}  // namespace slmsim
