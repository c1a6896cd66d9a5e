// The tasks of a plan with GPUs that are alike taken once (sim/graph/fold.h), so that what equal replicas, tensor-parallel
// ranks and edges of rings do is simulated once.
#pragma once

#include "sim/technique/technique.h"

namespace slmsim {

// Which GPUs to try as one: equal ones in equal VMs of one site, in the same stages of the plan and with equal parts of the
// batch.
Colours alike_in_plan(const Plan& plan, const Platform& platform);

// What the plan's technique lowers it to. Devices are taken for one where that is proved to give the same times: first as
// many as may be alike, then fewer, as what the plan connects tells them apart, until all that is left is the whole graph.
Lowered lower_alike(const LowerRequest& request);

}  // namespace slmsim
