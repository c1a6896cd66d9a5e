// Memory of PyTorch's FullyShardedDataParallel. A GPU holds its part of each parameter in fp32 with its gradient and
// both moments (16 bytes; in host memory with offload), and whole parameters of gathered units in training precision.
#pragma once

#include "sim/technique/common/memory.h"

namespace slmsim {

// For a plan whose `by` is an FsdpPlan.
std::vector<DeviceMemory> memory_of_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
StoreMemory stored_by_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
