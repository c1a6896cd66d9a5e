// The scenarios below the folder that the page was started in: what it may open and save.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/reach.h"

namespace slmsim::web {

class Folder {
 public:
  // Throws InputError where it is no folder.
  explicit Folder(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return root_; }
  // Paths from the root, sorted: YAML files that no hidden folder holds, at most kMostListed, down to kDeepestListed.
  std::vector<std::string> list() const;
  // Each throws InputError where the path is not below the root, symbolic links followed, or is no YAML file.
  std::string read(const std::string& path) const;
  // What is there already is an error unless it is to be `replaced`. The file appears whole or not at all.
  void write(const std::string& path, const std::string& text, bool replaced) const;

  // For what a scenario names by paths: files below the root, and the data that came with the program.
  Reach reach() const;

  static constexpr std::size_t kMostListed = 2000;
  static constexpr int kDeepestListed = 6;

 private:
  std::filesystem::path place_of(const std::string& path) const;

  std::filesystem::path root_;
};

}  // namespace slmsim::web
