// Shared by Shard and Pipeshard: operators divided by a planner.
#pragma once

#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

Variation planner_variation();
// Degrees of tensor parallelism in a stage, or over all GPUs where there are no stages.
Variation tensor_variation();

MegatronExport planned_for_megatron(const ExportRequest& request);
std::vector<std::string> notes_on_planner(const ExportRequest& request);

// Says where GPUs compute the same, since no operator of their stage is divided among them.
std::vector<std::string> remarks_on_division(const Plan& plan);

}  // namespace slmsim
