// Choices for the user: names that a scenario may contain, with descriptions.
#pragma once

#include <filesystem>

#include "sim/serve/message.h"

namespace slmsim::web {

// {"models": [{"name", "parameters"}], "gpus": [{"name", "title", "memory_bytes"}], "vms": [{"name", "about"}], "techniques":
// as `slmsim list techniques --format json`, "scenarios": [NAME]}, from the folders above `folder` and the program's own data.
// Invalid files are left out.
Json catalog_of(const std::filesystem::path& folder);

}  // namespace slmsim::web
