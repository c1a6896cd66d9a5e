// Reads a file of any kind this project knows and finds everything that is wrong with it.
#pragma once

#include <filesystem>
#include <string>

namespace slmsim {

// What the file is: "scenario", "platform", "model", "GPU", "VM type", "drive" or "path". Throws InputError.
std::string check_file(const std::filesystem::path& file);

}  // namespace slmsim
