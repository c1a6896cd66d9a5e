// Files that are read: regular ones, since a pipe or a device may never end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace slmsim {

// Throws InputError where there is no such file (with the nearest name beside it), it is a folder, a pipe or a device, or it
// may not be read.
std::ifstream open_regular_file(const std::filesystem::path& path);

// All of it. Throws InputError likewise, and where it has more bytes than these.
std::string read_regular_file(const std::filesystem::path& path, std::uintmax_t most_bytes);

}  // namespace slmsim
