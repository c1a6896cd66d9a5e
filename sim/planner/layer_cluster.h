// Which operators go together as the layers that a pipeline is cut between.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/model/operator.h"

namespace slmsim {

// Operators clustered into so many layers (Alpa, section 5.2): first operator of each. Cuts lie where a single
// activation crosses; no layer has more than 1.6 times its share of the FLOPs (Alpa's eps) if that is possible; then the least bytes cross,
// and of equals the most even layers are taken. Fewer layers where there are not so many cuts.
std::vector<std::size_t> cluster_operators(const OperatorGraph& operators, std::size_t layers);

}  // namespace slmsim
