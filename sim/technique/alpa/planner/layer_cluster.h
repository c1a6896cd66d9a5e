// Clusters operators into layers, between which a pipeline may be cut.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/compute/operator.h"

namespace slmsim {

// Operators clustered into `layers` layers (Alpa, section 5.2): first operator of each. Cuts are at places where a
// single activation crosses; no layer has more than 1.6 times its share of the FLOPs (Alpa's eps) if possible; then
// bytes across cuts are minimised, and ties are resolved by the most even layers. Fewer layers where there are fewer
// cuts.
std::vector<std::size_t> cluster_operators(const OperatorGraph& operators, std::size_t layers);

}  // namespace slmsim
