// Random valid scenarios.
//
// Enters: a seed. Leaves: a scenario with everything it needs inside, as JSON, which is YAML too: 1 to 12 VMs of 1 to 16
// GPUs at 1 to 4 sites, of shipped and of made-up types, links of up to 300 ms that lose segments or not, models from tiny
// to large, and any technique with any of the options that its descriptor lists.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "sim/base/key_record.h"
#include "tests/random/dice.h"

namespace slmsim {

using Json = nlohmann::ordered_json;

Json draw_scenario(std::uint64_t seed);

// Techniques with any of their options, for a batch of `batch` sequences.
Json draw_techniques(CaseDice& dice, int batch, int gpus);

// Reads what draw_techniques() needs to know, once for this process and those that it starts.
void describe_options();

}  // namespace slmsim
