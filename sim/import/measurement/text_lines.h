// The lines of a text that a program printed for people, as words between spaces.
#pragma once

#include <string>
#include <vector>

#include "sim/import/measurement/input_file.h"

namespace slmsim {

struct TextLine {
  int number = 0;  // from 1
  std::string text;
  std::vector<std::string> words;
};

// Lines without words are left out; so are a byte order mark and the carriage returns of line ends.
std::vector<TextLine> text_lines(const InputFile& file);

}  // namespace slmsim
