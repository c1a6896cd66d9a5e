// Determines the kind of a file by the keys that only that kind has.
#pragma once

#include <string>

#include "sim/base/yaml.h"

namespace slmsim {

// "scenario", "sweep", "platform", "model", "GPU", "VM type", "drive", "software stack", "GPU profile" or "path";
// "scenario" where no key indicates another kind.
std::string kind_of(const Node& file);

// Throws InputError where the file is of another kind, and states the use of that kind.
void require_scenario(const Node& file);

}  // namespace slmsim
