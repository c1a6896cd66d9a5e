// What a person chooses from: names that a scenario may hold, with what they stand for.
#pragma once

#include <filesystem>

#include "sim/serve/message.h"

namespace slmsim::web {

// {"models": [{"name", "parameters"}], "gpus": [{"name", "title", "memory_bytes"}], "vms": [{"name", "about"}], "techniques":
// as `slmsim list techniques --format json`, "scenarios": [NAME]}, of the folders above `folder` and the program's own data.
// What is broken is left out.
Json catalog_of(const std::filesystem::path& folder);

}  // namespace slmsim::web
