// What slmsim fit found, for people.
#pragma once

#include <string>

#include "sim/fit/draws.h"

namespace slmsim {

std::string to_table(const FitReport& report);

}  // namespace slmsim
