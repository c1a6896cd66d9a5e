// Reads a file of any known kind and reports all its errors.
#pragma once

#include <filesystem>
#include <string>

namespace slmsim {

// Returns the kind of file: "scenario", "platform", "model", "GPU", "VM type", "drive" or "path". Throws InputError.
std::string check_file(const std::filesystem::path& file);

}  // namespace slmsim
