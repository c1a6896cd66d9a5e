// The result of slmsim fit, as a table and as JSON.
#pragma once

#include <string>

#include "sim/fit/draws.h"

namespace slmsim {

std::string to_table(const FitReport& report);
// One JSON object of schema "slmsim/fit/1": each unknown with its median, 80 % interval and remaining share of the prior's
// width, each run with its measured and fitted figures. Base units; for a choice the shares of its words.
std::string to_json(const FitReport& report);

}  // namespace slmsim
