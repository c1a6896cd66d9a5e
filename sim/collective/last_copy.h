// The rate at which a ring's ranks read the last chunk of a loop.
//
// In a step of a ring NCCL's kernel reads the received data and writes it on at once (recvReduceSend), so that a step
// takes the time of the slower of both. The last chunk of a loop is only read (recv), while nobody sends: 2 (n-1) steps
// and a copy. Where the chunk is in host memory, or in another GPU's, that copy crosses PCIe once more and takes the
// time of a step: two GPUs then reach two thirds of the path's rate, eight 14 fifteenths. Where it is in the GPU's own
// memory, the thread blocks of all channels copy it. LL and LL128 send flags with every line and need no complete
// chunk. (NCCL 2.15, src/collectives/device/all_reduce.h, runRing, and prims_simple.h, genericOp.)
#pragma once

#include <span>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

// For each ring and rank: `rings` are devices in their orders, `channels` the number of channels per ring. Empty for
// GPUs of several VMs: there messages end in the network's buffers.
std::vector<std::vector<BytesPerSecond>> last_copies(const Network& network, std::span<const std::vector<int>> rings,
                                                     int channels, const Relays& relays = {});

}  // namespace slmsim
