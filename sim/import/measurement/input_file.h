// A file that another program wrote, and its name for messages.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace slmsim {

struct InputFile {
  std::shared_ptr<const Source> source;  // its name is the path as the user typed it

  const std::string& path() const { return source->name; }
  std::string_view text() const { return source->text; }
  Place at(int line, int column = 1) const { return {source, line, column}; }
  // The parts of the path, the file's name last.
  std::vector<std::string> parts() const;
};

// Throws InputError where the file does not exist, is a folder or a device, is too large, or is not text: a spreadsheet, or a
// Git LFS pointer.
InputFile read_input_file(const std::string& path);

}  // namespace slmsim
