// From a scenario file to one self-contained tree: bases that it extends are merged in, overrides are laid
// over it, and the names of platforms, VM types, GPUs, paths and models are replaced by the maps in their files;
// iperf3's JSON is made into a path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/yaml.h"

namespace slmsim {

// One "--set KEY=VALUE"; KEY is a path such as "platform.links.wan.rtt", VALUE is YAML.
using Overrides = std::vector<std::string>;

// Throws InputError with every reference that leads nowhere, files that extend each other in a ring, and
// overrides that are not KEY=VALUE or whose path does not exist.
Node link_scenario(const std::filesystem::path& file, const Overrides& overrides);
// The same for a file of platforms/: its VM types, GPUs and paths.
Node link_platform(const std::filesystem::path& file);

// Where names are looked up for a file: the folders above it that hold platforms/ or models/, the nearest first, then
// the installed data, then the source tree's.
std::vector<std::filesystem::path> data_roots(const std::filesystem::path& file);

// Names of the YAML files directly inside a folder, sorted, without their extension.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace slmsim
