// Whole jobs with their failures, checkpoints and costs.
#pragma once

#include "sim/predict/job/outcome.h"

namespace slmsim {

Json job_json(const JobOutcome& job);
// Values common to all of a scenario's jobs: the lease, and the links at each time of the day at which they change.
Json job_rules_json(const Scenario& scenario);

}  // namespace slmsim
