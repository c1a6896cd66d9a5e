// What can go wrong, by whose turn it is to mend it.
#pragma once

#include <stdexcept>
#include <string>

namespace slmsim::netprobe {

// Wrong words on the command line, or an output that cannot be written: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The network or the other host failed: exit status 1.
struct NetworkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "what: Connection refused", from errno.
std::string with_reason(const std::string& what);

}  // namespace slmsim::netprobe
