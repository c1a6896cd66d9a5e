// Time limit of a search.
#pragma once

#include "sim/search/plan_job.h"

namespace slmsim {

// Gives the job this many seconds from now, with a share for each model: a search then stops early enough to predict its
// results once more. The result depends on the machine.
void limit_time(PlanJob& job, double seconds);

}  // namespace slmsim
