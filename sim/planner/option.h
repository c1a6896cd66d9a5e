// The options of techniques that a planner reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/scenario/technique.h"

namespace slmsim {

// The names of an option's values, in their order, are those that scenarios use.

// Who divides operators and cuts stages. kAlpa: by Alpa's unitless costs, blind to distances. kSlmsim: by the times
// of this platform.
enum class Planner { kAlpa, kSlmsim };
const std::vector<std::string>& planner_names();

// How the layers of equal stages are cut: kFlops as Alpa does, equal FLOPs; kSpeed equal time on the GPUs each stage has.
enum class StageSplit { kFlops, kSpeed };
const std::vector<std::string>& stage_split_names();

extern const Option<Planner> kPlanner;
// Products are divided over so many neighbouring GPUs, sequences over the rest. 0: as the planner likes.
extern const Option<int> kTensor;
// Of Shard: GPUs along one or two axes; empty: the planner's.
extern const Option<std::vector<int>> kMesh;
// Of each GPU; absent: none (kSlmsim: what the GPUs have).
extern const Option<std::optional<Bytes>> kMemoryLimit;
// Of a pipeline. 0: one per VM, or one per GPU inside a single VM, and for kSlmsim as many as it finds best; kAutomatic: as many
// as the inter-operator planner finds best.
extern const Option<int> kStages;
extern const Option<StageSplit> kSplit;
extern const Option<Schedule> kSchedule;
extern const Option<int> kAhead;
// Absent: as the framework does whose technique it is.
extern const Option<std::optional<SendOrder>> kOrder;

// Whether the inter-operator planner cuts the stages.
bool planner_cuts_stages(const TechniqueOptions& options);

}  // namespace slmsim
