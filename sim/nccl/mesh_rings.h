// Rings over links that join GPUs in pairs, as NCCL finds them.
//
// NCCL looks for as many rings of one speed as the links carry, each direction of a link by itself; it begins with the fastest
// link's rate, tries slower ones down to a half of it, and keeps what carries most together. Only where links that join
// two GPUs make no ring may it go through a third GPU of the communicator: the sender writes into that one's memory,
// the receiver reads there. (NCCL 2.15, src/graph/search.cc: ncclTopoCompute, ncclTopoSearchRec; src/graph/paths.cc:
// PATH_NVB; src/transport/p2p.cc: P2P_INTERMEDIATE.)
#pragma once

#include <span>
#include <vector>

#include "sim/platform/node.h"

namespace slmsim {

// What links from GPU to GPU carry per direction.
class PairRates {
 public:
  // `gpus`: parts of the node.
  PairRates(const NodeInside& inside, std::span<const int> gpus);

  std::size_t size() const { return count_; }
  double rate(std::size_t from, std::size_t to) const { return rates_[from * count_ + to]; }  // 0: not joined
  bool any() const;
  bool equal() const;  // all pairs have the same
  // The GPU that is joined with both of two that are not joined themselves: the one with the fastest way, of equals the
  // first; -1: none, or they are joined.
  int relay(std::size_t from, std::size_t to) const;

 private:
  std::size_t count_;
  std::vector<double> rates_;
};

// The rings, as orders of these GPUs that begin with the first one; all carry the same. Empty where there is none.
std::vector<std::vector<std::size_t>> mesh_rings(const PairRates& rates);

}  // namespace slmsim
