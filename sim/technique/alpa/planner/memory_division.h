// Divisions within a memory limit where repeated layers cannot all have the same division: some are faster, some
// smaller. The program of the whole is then hard for branch and bound, since its layers are interchangeable.
//
// The limit is replaced by a price: for price p per byte the cheapest division of repeated layers costs min(cost + p
// use), an integer program without limit. Bisection finds the price whose division is just small enough; some of its
// layers are then replaced by those of the division at a slightly lower price. Each price gives a lower bound min(cost
// + p use) - p limit of the whole program (Lagrangian relaxation), which shows the quality of the result.
#pragma once

#include "sim/technique/alpa/planner/intra_operator.h"

namespace slmsim {

struct MemoryDivision {
  std::vector<std::size_t> options;  // of the whole program; empty: none was found
  double cost = 0;
  double bound = 0;  // lower bound of the cost within the limit
};

// `once` and `each`: the programs of one request with and without equal divisions of layers, with a memory limit.
MemoryDivision divide_within_memory(const DivisionProgram& once, const DivisionProgram& each,
                                    const IntraOperatorRequest& request);

}  // namespace slmsim
