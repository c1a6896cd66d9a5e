// Opens regular files only, since a pipe or a device may never end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace slmsim {

// Throws InputError where the file is missing (with the nearest name), is a folder, a pipe or a device, or is not
// readable.
std::ifstream open_regular_file(const std::filesystem::path& path);

// The whole file. Throws InputError as above, and where it exceeds `most_bytes`.
std::string read_regular_file(const std::filesystem::path& path, std::uintmax_t most_bytes);

}  // namespace slmsim
