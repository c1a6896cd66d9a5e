// What slmsim fit found, for people and for programs.
#pragma once

#include <string>

#include "sim/fit/draws.h"

namespace slmsim {

std::string to_table(const FitReport& report);
// One JSON object of schema "slmsim/fit/1": each unknown with its median, 80 % interval and what is left of the prior's width,
// each run with what was measured and what the fit makes of it. Base units; of a choice the shares of its words.
std::string to_json(const FitReport& report);

}  // namespace slmsim
