// Collectives on a ring of ranks, as NCCL runs them; other rules model other libraries (tests/collective/gloo_rules.h).
//
// NCCL cuts a buffer into loops. In a loop each channel moves n chunks (one per rank) around the ring of n ranks: an
// all-reduce takes 2(n-1) steps of one chunk per rank, an all-gather or a reduce-scatter n-1. A rank sends in step s
// the data that it received in step s-1, and begins the next loop after the last receive of this one. A chunk of the
// protocol Simple moves in two slices, and a rank sends a slice on while it receives the next one. A step therefore
// takes the longer of a chunk's time on the edge, and of a slice's time with the latency; a loop pays the latency once
// more (NCCL 2.15: src/collectives/device/all_reduce.h, runRing; prims_simple.h, genericOp; collectives.h).
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

enum class Collective { kAllReduce, kAllGather, kReduceScatter };

enum class Detail {
  kSteps,       // every chunk of every step is a transfer
  kAggregated,  // one transfer per ring edge with the whole volume, then the latency of the other steps and
                // loops
};

enum class Order {
  kPieceAfterPiece,  // NCCL: a piece of every share takes all its steps before the next piece's first
  kStepAfterStep,    // Gloo: all pieces of a share take one step before any takes the next
};

// The size of a share's pieces (a share: one rank's part of the buffer), and the dependencies between them. The
// defaults are NCCL's.
struct RingRules {
  int channels = 2;
  int sockets_per_channel = 1;
  Bytes chunk;  // for one channel, one rank and one step
  Detail detail = Detail::kSteps;
  Order order = Order::kPieceAfterPiece;
  int least_pieces = 1;         // of a share
  int in_flight = 1;            // a rank sends its i-th piece after receiving the (i - in_flight)-th
  int slices = 1;               // number of parts of a piece that a rank passes on separately
  bool announced = false;       // and after its successor has announced that it waits for that piece
  bool phase_by_phase = false;  // an all-reduce starts gathering after its reduce-scatter; else without a break
  bool together = false;        // all ranks begin when the last one is ready
  int nic = -1;                 // between VMs; -1: the NIC nearest to each sender
  // NCCL's kernels read one step's chunk while they write the next one's, but the last chunk of a loop is only read.
  // Read rate per rank; empty: no time.
  std::vector<BytesPerSecond> last_copy = {};
  Relays relays = {};
  std::vector<int> sockets = {};  // per channel on the edge from rank r; empty: sockets_per_channel on all
};

// From a rank to its successor: the connection, and the return path of a notification. A notification is a few bytes;
// it waits for data queued on the same outgoing link of the successor's host.
struct RingEdge {
  int connection = 0;
  Seconds back;     // time of a notification on an idle path
  int behind = -1;  // the connection whose data it follows instead; -1: none
};

// A communicator: GPUs in ring order and their connections to the next one. Channels run in step, so all channels of a
// ring edge are one Connection with the sum of their sockets.
class Ring {
 public:
  Ring(TaskGraph& graph, const Network& network, std::vector<int> devices, RingRules rules);
  // Uses existing connections of the graph, one per rank.
  Ring(TaskGraph& graph, std::vector<RingEdge> edges, RingRules rules);

  // `size` is the reduced buffer, or the data that all ranks hold after gathering. `ready[r]` is the task after which
  // rank r takes part. Returns per rank the task after which it has its result.
  std::vector<TaskId> run(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready);
  // The same with another chunk size; without `whole_chunks`, chunks are read line by line, including the last of a
  // loop, and have no slices.
  std::vector<TaskId> run(Collective collective, Bytes size, Bytes chunk, bool whole_chunks, TagId tag,
                          std::span<const TaskId> ready);

  int size() const { return static_cast<int>(size_); }

 private:
  std::vector<TaskId> run_steps(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready);
  std::vector<TaskId> run_folded(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready);
  std::vector<TaskId> run_aggregated(int steps, Bytes size, TagId tag, std::span<const TaskId> ready);
  Seconds visible_latency(const RingEdge& edge, Bytes slice) const;
  bool hides_latency(Bytes slice) const;
  void copy_last(Bytes size, TagId tag, std::span<TaskId> received);
  std::size_t previous(std::size_t rank) const { return rank == 0 ? size_ - 1 : rank - 1; }
  std::size_t next(std::size_t rank) const { return rank + 1 == size_ ? 0 : rank + 1; }

  TaskGraph& graph_;
  std::size_t size_;
  std::vector<RingEdge> edges_;  // from rank r to rank r + 1
  RingRules rules_;
};

// Steps of a collective on n ranks.
int step_count(Collective collective, int ranks);

// Number of pieces of a share (NCCL's loops, Gloo's segments), and of a collective's transfers by steps: ranks x steps
// x pieces.
double loop_count(int ranks, Bytes size, const RingRules& rules);
double transfer_count(Collective collective, int ranks, Bytes size, const RingRules& rules);

// The rate at which a ring's ranks read the last chunk of a loop.
//
// In a step of a ring NCCL's kernel reads the received data and writes it on at once (recvReduceSend), so that a step
// takes the time of the slower of both. The last chunk of a loop is only read (recv), while nobody sends: 2 (n-1) steps
// and a copy. Where the chunk is in host memory, or in another GPU's, that copy crosses PCIe once more and takes the
// time of a step: two GPUs then reach two thirds of the path's rate, eight 14 fifteenths. Where it is in the GPU's own
// memory, the thread blocks of all channels copy it. LL and LL128 send flags with every line and need no complete
// chunk. (NCCL 2.15, src/collectives/device/all_reduce.h, runRing, and prims_simple.h, genericOp.)

// For each ring and rank: `rings` are devices in their orders, `channels` the number of channels per ring. Empty for
// GPUs of several VMs: there messages end in the network's buffers.
std::vector<std::vector<BytesPerSecond>> last_copies(const Network& network, std::span<const std::vector<int>> rings,
                                                     int channels, const Relays& relays = {});

}  // namespace slmsim
