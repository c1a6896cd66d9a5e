// Common functions of several techniques.
#pragma once

#include "sim/technique/common/lower.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/plan_request.h"
#include "sim/technique/export/export.h"
#include "sim/technique/common/variation.h"

namespace slmsim {

// Calls Technique::plan with the number of micro-batches set.
PlanResult make_plan(const PlanRequest& request);

// A plan without stages: the technique, its micro-batches and recomputation.
Plan begin_plan(const PlanRequest& request);

// Default numbers of micro-batches. One sequence per GPU if each computes its own (or, if that does not divide the
// batch, the next larger share); one sequence for all of them; all of a GPU's sequences at once.
int one_sequence_each(const PlanRequest& request);
int one_sequence(const PlanRequest& request);
int all_at_once(const PlanRequest& request);

Launcher launched_by_processes(const TechniqueOptions& options);
Launcher launched_by_driver(const TechniqueOptions& options);

// The reason why DeepSpeed cannot run a plan that divides operators or layers.
std::string not_deepspeeds(const Technique& technique);
// The reason why Alpa cannot run it.
std::string not_alpas(const Technique& technique);

}  // namespace slmsim
