// What PyTorch's FullyShardedDataParallel holds. Of each parameter a GPU has its part in fp32 with its gradient and both
// moments (16 bytes; in host memory with offload), and of gathered units whole ones in training precision.
#pragma once

#include "sim/memory/memory.h"

namespace slmsim {

// Of a plan whose `by` is an FsdpPlan.
std::vector<DeviceMemory> memory_of_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
StoreMemory stored_by_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
