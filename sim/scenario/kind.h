// Determines the kind of a file by the keys that only that kind has, and reads a file of any kind.
#pragma once

#include <filesystem>
#include <string>

#include "sim/base/yaml.h"

namespace slmsim {

// "scenario", "sweep", "platform", "model", "GPU", "VM type", "drive", "software stack", "GPU profile" or "path";
// "scenario" where no key indicates another kind.
std::string kind_of(const Node& file);

// Throws InputError where the file is of another kind, and states the use of that kind.
void require_scenario(const Node& file);

// Reads a file of any known kind and reports all its errors.
// Returns the kind of file: "scenario", "platform", "model", "GPU", "VM type", "drive" or "path". Throws InputError.
std::string check_file(const std::filesystem::path& file);

}  // namespace slmsim
