// An all-reduce by shares: each of n ranks sends every other one its share, adds up the received parts, and sends the
// sum of its own share to all others. Each rank sends 2 (n - 1) / n of the buffer, as in a ring, but in two messages to
// each other rank and not in 2 (n - 1) steps around the ring: two latencies, and a separate path for every pair of
// ranks.
//
// It sums numbers with scales, which cannot be added directly: each rank decodes, adds and encodes once, where a ring
// would do so at every step and lose precision each time. Hivemind (Diskin et al., arXiv 2106.10207) and, with
// should_quantize, torchft do the same.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/collective/peers.h"

namespace slmsim {

// `size`: the buffer on the wire. `sum(rank, received)`: the task after which a rank has summed its share, whose parts
// have arrived after `received`. Returns per rank the task after which it has all sums.
std::vector<TaskId> all_reduce_by_shares(Peers& peers, std::span<const int> devices, Bytes size, TagId tag,
                                         std::span<const TaskId> ready,
                                         const std::function<TaskId(std::size_t rank, TaskId received)>& sum);

}  // namespace slmsim
