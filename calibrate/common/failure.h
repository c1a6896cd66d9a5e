// What a calibration program can be told wrongly.
#pragma once

#include <stdexcept>
#include <string>

namespace slmsim::calibrate {

// Wrong words on the command line, or an input or output file that cannot be used: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "what: Connection refused", from errno.
std::string with_reason(const std::string& what);

}  // namespace slmsim::calibrate
