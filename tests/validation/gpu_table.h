// The comparison with measured GPUs as Markdown or CSV.
#pragma once

#include <string>

#include "tests/validation/gpu_validation.h"

namespace slmsim {

std::string to_markdown(const GpuValidation& validation);
std::string to_csv(const GpuValidation& validation);

}  // namespace slmsim
