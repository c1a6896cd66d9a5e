// One file of tests/bad, the verb that reads it and all errors it must give. Lines and columns are counted in
// the file by hand.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/cli/refusal.h"

namespace slmsim {

struct BadCase {
  std::string verb, file;
  std::vector<ExpectedError> errors;
  std::string blamed;  // the file that the errors name where it is another one of tests/bad
};

inline void PrintTo(const BadCase& one, std::ostream* out) { *out << one.verb << " " << one.file; }

}  // namespace slmsim
