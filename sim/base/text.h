// Quoting of text for files and command lines.
#pragma once

#include <string>

namespace slmsim {

std::string lower_case(std::string text);

// In double quotes, as YAML reads it; control characters become spaces, as by printable().
std::string yaml_quoted(const std::string& text);

// As one word of a shell's command line: in single quotes where it holds more than plain characters.
std::string shell_word(const std::string& text);

}  // namespace slmsim
