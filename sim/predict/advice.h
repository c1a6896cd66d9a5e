// The nearest change that would let an out-of-memory plan fit.
#pragma once

#include <string>

#include "sim/technique/common/memory.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

// "gat/0 needs 28.1 GiB of 21.6 GiB (activations 18.2 GiB, ...): 6.5 GiB too much; it would fit with ...".
std::string out_of_memory_advice(const PlanRequest& request, const Plan& plan);

// The largest part of a GPU's memory: "activations 18.2 GiB".
std::string largest_part(const DeviceMemory& memory);

}  // namespace slmsim
