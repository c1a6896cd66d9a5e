// The options of techniques that a planner reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/technique.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

// Names of option values are in enumerator order and are those that scenarios use.

// The planner of divisions and stages. kAlpa: by Alpa's unitless costs, independent of distances. kSlmsim: by the times
// of this platform.
enum class Planner { kAlpa, kSlmsim };

// Cut of layers into stages: kFlops as Alpa, equal FLOPs; kSpeed equal time on each stage's GPUs.
enum class StageSplit { kFlops, kSpeed };

extern const Option<Planner> kPlanner;
// Number of neighbouring GPUs over which products are divided; sequences are divided over the rest. 0: the planner
// decides.
extern const Option<int> kTensor;
// For Shard: GPUs along one or two axes; empty: the planner decides.
extern const Option<std::vector<int>> kMesh;
// Limit of each GPU; absent: none (kSlmsim: the GPU's memory).
extern const Option<std::optional<Bytes>> kMemoryLimit;
// Number of a pipeline's stages. 0: one per VM, or one per GPU inside a single VM, and for kSlmsim the best number;
// kAutomatic: the best number by the inter-operator planner.
extern const Option<int> kStages;
extern const Option<StageSplit> kSplit;
extern const Option<Schedule> kSchedule;
extern const Option<int> kAhead;
// Absent: the order of the technique's framework.
extern const Option<std::optional<SendOrder>> kOrder;

// Where kOrder is absent: Alpa's, or with zero bubble the one that allows it.
SendOrder send_order_by(const TechniqueOptions& options);

// Whether the inter-operator planner chooses the stages.
bool planner_cuts_stages(const TechniqueOptions& options);

}  // namespace slmsim
