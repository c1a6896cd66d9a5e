// What replicas that exchange once per round must hold: weights, gradients and Adam's state as a replica alone does, and what
// the exchange takes beside them.
//
//   outer parameters and momentum   8 bytes per parameter (two copies in fp32), divided over the GPUs of a replica; on the
//                                   GPU or in host memory (arXiv 2501.18512, section on memory overhead); of averages none
//   what is exchanged               of the largest fragment, divided likewise: 4 bytes per parameter of the difference, or of
//                                   the average, and what goes on the wire where that is encoded. Without a delay no
//                                   activations are held meanwhile, with one they are.
#pragma once

#include <vector>

#include "sim/memory/memory.h"

namespace slmsim {

// Of a plan whose `by` is a RoundPlan.
std::vector<DeviceMemory> memory_of_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
StoreMemory stored_by_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
