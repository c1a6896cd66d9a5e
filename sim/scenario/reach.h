// Limits of the paths in a scenario. A scenario typed by its user may name any file that the user may read; one from
// elsewhere may not.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/base/error.h"

namespace slmsim {

// Files below these folders, after resolving symbolic links; without folders, every file.
struct Reach {
  std::vector<std::filesystem::path> folders;

  bool holds(const std::filesystem::path& file) const;
  // Throws InputError, at the place that names the file, where it lies elsewhere; the error does not reveal whether the
  // file exists.
  void check(const std::filesystem::path& file, const Place& named_at) const;
};

}  // namespace slmsim
