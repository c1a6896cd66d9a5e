// Rings over pairwise links between GPUs, as NCCL finds them.
//
// NCCL looks for the largest number of rings of one speed that fit on the links, each direction of a link separately;
// it begins with the fastest link's rate, tries slower ones down to a half of it, and keeps the highest total. Only if
// direct links form no ring may it pass through a third GPU of the communicator: the sender writes into that GPU's
// memory, and the receiver reads there. (NCCL 2.15, src/graph/search.cc: ncclTopoCompute, ncclTopoSearchRec;
// src/graph/paths.cc: PATH_NVB; src/transport/p2p.cc: P2P_INTERMEDIATE.)
#pragma once

#include <span>
#include <vector>

#include "sim/platform/node.h"

namespace slmsim {

// Rates of direct links between GPUs, per direction.
class PairRates {
 public:
  // `gpus`: parts of the node.
  PairRates(const NodeInside& inside, std::span<const int> gpus);

  std::size_t size() const { return count_; }
  double rate(std::size_t from, std::size_t to) const { return rates_[from * count_ + to]; }  // 0: not joined
  bool any() const;
  bool equal() const;  // all pairs have the same rate
  // The GPU with links to both of two GPUs without a direct link: the one with the fastest path, the first of equals;
  // -1: none, or they have a direct link.
  int relay(std::size_t from, std::size_t to) const;

 private:
  std::size_t count_;
  std::vector<double> rates_;
};

// The rings, as orders of these GPUs that begin with the first one; all have the same rate. Empty where there is none.
std::vector<std::vector<std::size_t>> mesh_rings(const PairRates& rates);

}  // namespace slmsim
