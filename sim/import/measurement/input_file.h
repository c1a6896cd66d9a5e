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

// The lines of a text that a program printed for people, as words between spaces.
struct TextLine {
  int number = 0;  // from 1
  std::string text;
  std::vector<std::string> words;
};

// Lines without words are left out; so are a byte order mark and the carriage returns of line ends.
std::vector<TextLine> text_lines(const InputFile& file);

}  // namespace slmsim
