// Divisions that keep within a memory limit, where layers that repeat cannot all be divided alike: some faster, some
// smaller. The program of the whole is then hard for branch and bound, since its layers can be exchanged.
//
// Instead the limit gets a price: for price p per byte the cheapest division of layers that repeat costs
// min(cost + p use), an integer program without limit. The price is narrowed down to where its division is just small
// enough; some layers of that one are then exchanged for those of the division at a slightly lower price. Each price gives a lower
// bound min(cost + p use) - p limit of the whole program (Lagrangian relaxation), which tells how good the result is.
#pragma once

#include "sim/planner/intra_operator.h"

namespace slmsim {

struct MemoryDivision {
  std::vector<std::size_t> options;  // of the whole program; empty: none was found
  double cost = 0;
  double bound = 0;  // no division within the limit costs less
};

// `once` and `each`: the programs of one request with and without layers divided alike, with a memory limit.
MemoryDivision divide_within_memory(const DivisionProgram& once, const DivisionProgram& each,
                                    const IntraOperatorRequest& request);

}  // namespace slmsim
