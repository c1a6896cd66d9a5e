// Which kind of file a tree was read from, by the keys that only that kind has.
#pragma once

#include <string>

#include "sim/base/yaml.h"

namespace slmsim {

// "scenario", "sweep", "platform", "model", "GPU", "VM type", "drive", "software stack", "GPU profile" or "path"; a scenario
// where nothing speaks for another.
std::string kind_of(const Node& file);

// Throws InputError where the file is of another kind, and says what that kind is for.
void require_scenario(const Node& file);

}  // namespace slmsim
