// The errors of a call or a reading as a user sees them, without the source line and its caret.
#pragma once

#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/fields.h"

namespace slmsim {

inline std::vector<std::string> first_lines(const std::vector<Error>& errors) {
  std::vector<std::string> lines;
  for (const auto& error : errors) {
    const std::string text = to_string(error);
    lines.push_back(text.substr(0, text.find('\n')));
  }
  return lines;
}

inline std::vector<std::string> errors_of(const Reading& reading) { return first_lines(reading.errors); }

template <class Call>
std::vector<std::string> errors_of(const Call& call) {
  try {
    call();
  } catch (const InputError& thrown) {
    return first_lines(thrown.errors());
  }
  return {};
}

}  // namespace slmsim
