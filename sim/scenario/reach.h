// How far the paths that a scenario states may lead. A scenario that its user typed may name any file that the user may read;
// one that came from elsewhere may not.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/base/error.h"

namespace slmsim {

// Files below these folders, wherever symbolic links lead; without a folder every file.
struct Reach {
  std::vector<std::filesystem::path> folders;

  bool holds(const std::filesystem::path& file) const;
  // Throws InputError, at the place that names the file, where it lies elsewhere; whether there is such a file is not told.
  void check(const std::filesystem::path& file, const Place& named_at) const;
};

}  // namespace slmsim
