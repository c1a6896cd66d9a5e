// The DeepSpeed study's facts as a table. Used by `slmsim validate deepspeed` and README.md.
#pragma once

#include <string>

#include "sim/select/deepspeed_facts.h"

namespace slmsim {

std::string to_markdown(const DeepSpeedValidation& validation);
std::string to_csv(const DeepSpeedValidation& validation);

}  // namespace slmsim
