// Memory of replicas that exchange once per round: weights, gradients and Adam's state as in a single replica, plus the
// memory of the exchange.
//
//   outer parameters and momentum   8 bytes per parameter (two copies in fp32), divided over the GPUs of a replica; on the
//                                   GPU or in host memory (arXiv 2501.18512, section on memory overhead); none for averages
//   exchanged data                  of the largest fragment, divided likewise: 4 bytes per parameter of the difference, or of
//                                   the average, and the encoded data, if any. Without a delay no activations are held
//                                   during the exchange; with one they are.
#pragma once

#include <vector>

#include "sim/technique/common/memory.h"

namespace slmsim {

// For a plan whose `by` is a RoundPlan.
std::vector<DeviceMemory> memory_of_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
StoreMemory stored_by_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
