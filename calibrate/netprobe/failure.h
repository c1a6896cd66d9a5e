// Errors, by who can correct them.
#pragma once

#include <stdexcept>

#include "calibrate/common/failure.h"

namespace slmsim::calibrate::netprobe {

// The network or the other host failed: exit status 1.
struct NetworkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace slmsim::calibrate::netprobe
