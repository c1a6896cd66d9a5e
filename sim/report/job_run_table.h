// Goodput of drawn jobs beside that of runs whose logs were published (sim/validate/job_runs.h).
#pragma once

#include <string>

#include "sim/validate/job_runs.h"

namespace slmsim {

std::string to_markdown(const JobValidation& validation);
std::string to_csv(const JobValidation& validation);

}  // namespace slmsim
