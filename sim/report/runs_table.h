// Predictions beside reported training runs (sim/validate/reported_runs.h).
#pragma once

#include <string>

#include "sim/validate/reported_runs.h"

namespace slmsim {

std::string to_markdown(const RunsValidation& validation);
std::string to_csv(const RunsValidation& validation);

}  // namespace slmsim
