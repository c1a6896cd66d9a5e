// NCCL 2.15's choices: algorithm and protocol of a call, channels, sockets and chunks, each with its source. Channels
// inside a node of Hopper GPUs follow 2.18, the first version to support them (24 of eight H100, and 16 of eight H800,
// as github.com/NVIDIA/nccl/issues/892 prints).
//
// The choice rests on NCCL's own estimate, with a fixed latency per hop and the rates of PCIe, NVLink and NIC, and
// without knowledge of a WAN. The chosen call then runs on the real network. Rules and constants of v2.15.1 and v2.15.5:
//   algorithm, protocol  src/graph/tuning.cc, ncclTopoTuneModel and ncclTopoGetAlgoTime: the least of
//                        latency + bytes / (bandwidth x correction) over the enabled ones
//   channels             src/graph/connect.cc, ncclTopoPostset: twice the search's result, then at most
//                        NCCL_MAX_NCHANNELS, then at least NCCL_MIN_NCHANNELS
//   sockets              src/transport/net_socket.cc, ncclSocketGetNsockNthread
//   chunks               src/enqueue.cc, computeColl; src/include/collectives.h (a ring's chunk has 4 of 8 steps)
//
// Simpler than NCCL: its search for rings in the PCIe tree is replaced by the largest step of its list of speeds that
// PCIe and NIC carry, one channel per NIC (the search may find a step less below Intel's root complex or on GPUs before
// Ampere), and a tree inside nodes without NVLink has the speed of a ring (on PCIe 4 the search may raise it by half).
// CPUs count as Intel's. A call below some 32 KiB gets all channels, where NCCL takes one; it is one loop either way.
#pragma once

#include <span>
#include <vector>

#include "sim/collective/ring.h"
#include "sim/platform/nccl.h"
#include "sim/platform/platform.h"

namespace slmsim {

// A communicator in NCCL's search and tuning.
struct NcclView {
  int ranks = 0;
  int nodes = 0;        // VMs
  bool nvlink = false;  // between all GPUs of every node
  int least_capability = 0, most_capability = 0;
  int search_channels = 1;                // before doubling; between nodes one per rail (NodeInside)
  double ring_speed = 0, tree_speed = 0;  // GB/s, of one of those channels

  // Depth of NCCL's tree: the chain inside a node and the binary tree over nodes.
  int tree_depth() const;
};

NcclView nccl_view(const Platform& platform, std::span<const int> devices);

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  NcclProtocol protocol = NcclProtocol::kSimple;

  bool operator==(const NcclChoice&) const = default;
};

// NCCL's estimate of a call's time; absent where the algorithm or the protocol is not available for this collective or
// not enabled. `size` is the reduced buffer, or the data that all ranks hold after gathering.
std::optional<Seconds> nccl_expected_time(const Nccl& nccl, const NcclView& view, Collective collective, Bytes size,
                                          const NcclChoice& choice);
NcclChoice nccl_choice(const Nccl& nccl, const NcclView& view, Collective collective, Bytes size);

// Minimum time of a tree's kernels, independent of the links: the same formula without the limit by links. It keeps a
// tree's rate on a channel (perChMaxTreeBws), its share at intermediate sizes (treeCorrectionFactor) and the latency of
// its steps. The rate scales with the number of channels relative to those that the search doubles.
Seconds nccl_tree_time(const Nccl& nccl, const NcclView& view, const NcclChoice& choice, Bytes size);

int nccl_channels(const Nccl& nccl, const NcclView& view);
// Buffers of one communicator on each of its GPUs. Over NVLink each connection that a GPU receives from has buffers of all
// three protocols (src/transport/p2p.cc, p2pRecvSetup): a channel's ring has one, its tree up to two, a chain inside a node.
// Elsewhere every channel has a send and a receive buffer.
Bytes nccl_buffers(const Nccl& nccl, const NcclView& view);

// Bytes of a send that NCCL's buffers at either end hold (src/transport/net.cc): NCCL_STEPS chunks of each of the two
// channels of a pair. The sender's kernel ends when the rest has left, and the same number may leave before the
// receiver's kernel begins.
Bytes nccl_message_buffer(const Nccl& nccl);

// Bytes that each rank of a broadcast forwards at a time, on all channels (BROADCAST_CHUNKSTEPS,
// src/include/collectives.h).
Bytes nccl_broadcast_chunk(const Nccl& nccl);

// TCP connections of a channel to a VM: NCCL_NSOCKS_PERTHREAD x NCCL_SOCKET_NTHREADS, at most 64. By default 8 x 2 on
// AWS, 1 x 4 on GCP, otherwise 1 x 1 as in NCCL's documentation. (The code's default is 0 threads besides the main one,
// so that NCCL_NSOCKS_PERTHREAD opens more sockets only together with NCCL_SOCKET_NTHREADS.) The receiver decides.
int nccl_sockets(const Nccl& nccl, Cloud receiver);

// Bytes on the wire per byte of data: LL sends a flag with every 4 bytes, LL128 one with every 120
// (src/include/devcomm.h).
double nccl_wire_factor(NcclProtocol protocol);

// For one channel and one step of a ring or edge of a tree, in bytes on the wire.
Bytes nccl_chunk(const Nccl& nccl, const NcclView& view, const NcclChoice& choice, Bytes size);

// Number of slices of a ring's chunk: two with the protocol Simple, of 2 of 8 steps each (ALLREDUCE_SLICESTEPS and the like,
// src/include/collectives.h). Inside a VM a chunk is one: its rates are measured on whole chunks, and hops take no time
// beside them.
inline constexpr int kNcclMostSlices = 2;
int nccl_slices(const NcclView& view, NcclProtocol protocol);

}  // namespace slmsim
