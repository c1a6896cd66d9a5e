// The scenarios below the folder in which the page was started: those it may open and save.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/link.h"

namespace slmsim::web {

class Folder {
 public:
  // Throws InputError where `root` is not a folder.
  explicit Folder(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return root_; }
  // Paths from the root, sorted: YAML files outside hidden folders, at most kMostListed, down to kDeepestListed.
  std::vector<std::string> list() const;
  // Each throws InputError where the path, with symbolic links followed, is not below the root, or is not a YAML file.
  std::string read(const std::string& path) const;
  // An existing file is an error unless `replaced`. The file appears whole or not at all.
  void write(const std::string& path, const std::string& text, bool replaced) const;

  // Files that a scenario may name by path: those below the root, and the program's data.
  Reach reach() const;

  static constexpr std::size_t kMostListed = 2000;
  static constexpr int kDeepestListed = 6;

 private:
  std::filesystem::path place_of(const std::string& path) const;

  std::filesystem::path root_;
};

}  // namespace slmsim::web
