// An all-reduce by shares: of n ranks each sends every other one its share, adds up what it receives, and sends the sum of
// its share to all others. Each rank sends 2 (n - 1) / n of the buffer, as in a ring, but in two messages to each other rank
// in place of 2 (n - 1) steps around all: two latencies, and every pair of ranks as its own path.
//
// Numbers with scales, which cannot be added as they are, are summed so: decoded, added and encoded once by each rank, where
// a ring would do it at every step and lose precision each time. So do Hivemind (Diskin et al., arXiv 2106.10207) and,
// with should_quantize, torchft.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/nccl/peers.h"

namespace slmsim {

// `size`: the buffer on the wire. `sum(rank, received)`: the task after which a rank has summed its share, whose parts it has
// after `received`. Returns per rank the task after which it has all sums.
std::vector<TaskId> all_reduce_by_shares(Peers& peers, std::span<const int> devices, Bytes size, TagId tag,
                                         std::span<const TaskId> ready,
                                         const std::function<TaskId(std::size_t rank, TaskId received)>& sum);

}  // namespace slmsim
