// Values as JSON that several reports hold.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/plan/framework_memory.h"
#include "sim/select/measure.h"

namespace slmsim {

using Json = nlohmann::ordered_json;

// Nine digits: what is below them is the rounding of sums of many events.
double rounded(double value);

Json breakdown_json(const Breakdown& breakdown);

// Host memories and volumes of drives.
Json stores_json(const std::vector<StoreMemory>& stores);

}  // namespace slmsim
