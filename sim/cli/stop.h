// Ends of long work: an interrupt, or the time that it was given.
#pragma once

#include <functional>

namespace slmsim {

// From here on the first SIGINT or SIGTERM does not end the process, a second one does; what this returns is true once one came,
// or `seconds` after this call where they are more than 0.
std::function<bool()> stop_at(double seconds);

// After what there is was written: ends the process by the signal that came, if one did, so that whoever waits for it is told.
void end_as_asked();

}  // namespace slmsim
