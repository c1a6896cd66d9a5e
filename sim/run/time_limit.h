// A search that ends in time.
#pragma once

#include "sim/search/plan_job.h"

namespace slmsim {

// Gives the job so many seconds from now, each model its share: a search then ends with what it has found, early enough to
// predict that once more. The result depends on the machine.
void limit_time(PlanJob& job, double seconds);

}  // namespace slmsim
