// The DeepSpeed study's facts as a table. Used by `slmsim validate deepspeed` and docs/validation/deepspeed.md.
#pragma once

#include <string>

#include "tests/validation/deepspeed_facts.h"

namespace slmsim {

std::string to_markdown(const DeepSpeedValidation& validation);
std::string to_csv(const DeepSpeedValidation& validation);

}  // namespace slmsim
