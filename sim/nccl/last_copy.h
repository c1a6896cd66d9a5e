// What a ring's ranks read the last chunk of a loop at.
//
// In a step of a ring NCCL's kernel reads what has come and writes it on at once (recvReduceSend), so that a step takes
// what the slower of both takes. The last chunk of a loop is read alone (recv), while nobody sends: 2 (n-1) steps and a
// copy. Where the chunk lies in host memory, or in another GPU's, that copy crosses PCIe once more and takes as long as a
// step: two GPUs then reach two thirds of what the way carries, eight 14 fifteenths. Where it lies in the GPU's own memory the thread blocks
// of all channels copy it. LL and LL128 send flags with every line and need no chunk to be whole.
// (NCCL 2.15, src/collectives/device/all_reduce.h, runRing, and prims_simple.h, genericOp.)
#pragma once

#include <span>
#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

// Of each ring and rank: `rings` are devices in their orders, `channels` those of one ring. Empty where GPUs of several
// VMs are among them: there messages end in the network's buffers.
std::vector<std::vector<BytesPerSecond>> last_copies(const Network& network, std::span<const std::vector<int>> rings,
                                                     int channels, const Relays& relays = {});

}  // namespace slmsim
