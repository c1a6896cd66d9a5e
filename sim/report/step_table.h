// Measured training steps beside their predictions, as Markdown and as CSV.
#pragma once

#include <string>
#include <vector>

#include "sim/fit/measured_step.h"

namespace slmsim {

// `skipped`: listed below the table with the reason.
std::string to_markdown(const std::vector<StepComparison>& steps, const std::vector<SkippedStep>& skipped = {});
std::string to_csv(const std::vector<StepComparison>& steps);

}  // namespace slmsim
