// The tasks of a plan with GPUs that are alike taken once (sim/graph/fold.h), so that what equal replicas, tensor-parallel
// ranks and edges of rings do is simulated once.
#pragma once

#include "sim/technique/technique.h"

namespace slmsim {

// Which GPUs to try as one: equal ones in equal VMs of one site, in the same stages of the plan and with equal parts of the
// batch. kInRows: besides of the same place in their VM and in their row of the mesh. kInVms: besides of one VM, so that
// each VM is for itself. kOnRails: of one VM and of the same place among those that share their nearest NIC.
enum class Alike { kEverywhere, kInRows, kInVms, kOnRails };
Colours alike_in_plan(const Plan& plan, const Platform& platform, Alike where);

// What the plan's technique lowers it to. Devices are taken for one where that is proved to give the same times: first as
// many as may be alike, then fewer, until all that is left is the whole graph.
Lowered lower_alike(const LowerRequest& request);

}  // namespace slmsim
