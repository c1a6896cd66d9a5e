// Predictions beside reported training runs (tests/validation/reported_runs.h).
#pragma once

#include <string>

#include "tests/validation/reported_runs.h"

namespace slmsim {

std::string to_markdown(const RunsValidation& validation);
std::string to_csv(const RunsValidation& validation);

}  // namespace slmsim
