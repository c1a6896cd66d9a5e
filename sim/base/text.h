// Pieces of text as files and people write them.
#pragma once

#include <string>

namespace slmsim {

std::string lower_case(std::string text);

// In double quotes, as YAML reads it; of the text what is printable().
std::string yaml_quoted(const std::string& text);

}  // namespace slmsim
