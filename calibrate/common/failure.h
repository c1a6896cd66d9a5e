// Errors that a calibration program's user can correct.
#pragma once

#include <stdexcept>
#include <string>

namespace slmsim::calibrate {

// Invalid words on the command line, or an unusable input or output file: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "what: Connection refused", from errno.
std::string with_reason(const std::string& what);

}  // namespace slmsim::calibrate
