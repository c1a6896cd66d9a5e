// Ends of long work: an interrupt, or the time that it was given.
#pragma once

#include <functional>

namespace slmsim {

// From here on SIGINT and SIGTERM do not end the process; what this returns is true once one came, or `seconds` after this
// call where they are more than 0.
std::function<bool()> stop_at(double seconds);

}  // namespace slmsim
