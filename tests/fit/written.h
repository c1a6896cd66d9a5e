// A file of the running test's own text.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/own_file.h"

namespace slmsim {

inline std::filesystem::path written(const std::string& name, const std::string& text) {
  const auto folder = own_file("");
  std::filesystem::create_directories(folder);
  const auto file = folder / name;
  std::ofstream(file) << text;
  return file;
}

}  // namespace slmsim
