// Stops long work: by an interrupt, or after a time limit.
#pragma once

#include <functional>

namespace slmsim {

// From here on the first SIGINT or SIGTERM does not end the process, a second one does. The returned function is true after the
// first signal, or `seconds` after this call if they are more than 0.
std::function<bool()> stop_at(double seconds);

// Called after the results are written: ends the process by the signal that arrived, if any, so that the parent process sees
// it.
void end_as_asked();

}  // namespace slmsim
