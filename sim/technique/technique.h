// What several techniques do alike.
#pragma once

#include "sim/lower/lower.h"
#include "sim/memory/memory.h"
#include "sim/plan/plan_request.h"
#include "sim/technique/export/export.h"
#include "sim/technique/variation.h"

namespace slmsim {

// Calls Technique::plan with the number of micro-batches settled.
PlanResult make_plan(const PlanRequest& request);

// A plan without stages: the technique, its micro-batches and what it computes anew.
Plan begin_plan(const PlanRequest& request);

// Numbers of micro-batches where the scenario leaves it open. One sequence per GPU where each computes its own (or, where
// that does not divide the batch, the next larger share); one sequence for all of them; all of a GPU's sequences at once.
int one_sequence_each(const PlanRequest& request);
int one_sequence(const PlanRequest& request);
int all_at_once(const PlanRequest& request);

Launcher launched_by_processes(const TechniqueOptions& options);
Launcher launched_by_driver(const TechniqueOptions& options);

// Why DeepSpeed does not run a plan that divides operators or layers.
std::string not_deepspeeds(const Technique& technique);
// Why Alpa does not.
std::string not_alpas(const Technique& technique);

}  // namespace slmsim
