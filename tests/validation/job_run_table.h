// Goodput of drawn jobs beside that of published runs (tests/validation/job_runs.h).
#pragma once

#include <string>

#include "tests/validation/job_runs.h"

namespace slmsim {

std::string to_markdown(const JobValidation& validation);
std::string to_csv(const JobValidation& validation);

}  // namespace slmsim
