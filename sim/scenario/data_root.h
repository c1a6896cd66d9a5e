// Where the files lie that names stand for: folders that hold platforms/ or models/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace slmsim {

// For what a file names: the folders above it, the nearest first, then the data that were installed with this program, found
// from the place that it runs from, then those of the place that it was built to be installed to, then the source tree's.
std::vector<std::filesystem::path> data_roots(const std::filesystem::path& file);

// Names of the YAML files directly inside a folder, sorted, without their extension.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace slmsim
