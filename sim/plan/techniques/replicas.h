// The plan that Data and ZeRO-2 share: one stage, every operator divided by sequences.
#pragma once

#include "sim/plan/techniques/technique_plan.h"

namespace slmsim {

PlanResult plan_replicas(const PlanRequest& request);

}  // namespace slmsim
