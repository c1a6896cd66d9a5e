// Names of parameterised tests that are words: what is neither letter nor digit becomes an underscore.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace slmsim {

inline std::string word_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

}  // namespace slmsim
