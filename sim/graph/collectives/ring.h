// Collectives on a ring of ranks, as NCCL runs them; by other rules also as others do (tests/graph/gloo_rules.h).
//
// NCCL cuts a buffer into loops. In a loop each channel moves n chunks (one per rank) around the ring of n
// ranks: an all-reduce takes 2(n-1) steps of one chunk per rank, an all-gather or a reduce-scatter n-1. A
// rank sends in step s what it received in step s-1, and begins the next loop after the last receive of this
// one. So latency is paid once per hop and per loop, however wide the path (NCCL 2.15:
// src/collectives/device/all_reduce.h, runRing).
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

enum class Collective { kAllReduce, kAllGather, kReduceScatter };

enum class Detail {
  kSteps,       // every chunk of every step is a transfer
  kAggregated,  // one transfer per ring edge with the whole volume, then the latency of the other steps and
                // loops
};

enum class Order {
  kPieceAfterPiece,  // NCCL: a piece of every share goes all its steps before the next piece's first
  kStepAfterStep,    // Gloo: all pieces of a share go one step before any goes the next
};

// How large a share's pieces are (a share: one rank's part of the buffer), and who waits for what. The defaults are
// NCCL's.
struct RingRules {
  int channels = 2;
  int sockets_per_channel = 1;
  Bytes chunk;  // of one channel, one rank and one step
  Detail detail = Detail::kSteps;
  Order order = Order::kPieceAfterPiece;
  int least_pieces = 1;         // of a share
  int in_flight = 1;            // a rank sends its i-th piece after receiving the (i - in_flight)-th
  bool announced = false;       // and after its successor has told it that it waits for that piece
  bool phase_by_phase = false;  // an all-reduce gathers after its reduce-scatter is over; else without a seam
  bool together = false;        // all ranks begin when the last one is ready
  int nic = -1;                 // between VMs; -1: the nearest to each sender
  // NCCL's kernels read one step's chunk while they write the next one's, but the last chunk of a loop is only read. Per
  // rank what it is read at; empty: that takes no time.
  std::vector<BytesPerSecond> last_copy = {};
  Relays relays = {};
  std::vector<int> sockets = {};  // per channel of the edge from rank r; empty: sockets_per_channel on all
};

// From a rank to its successor: the connection, and the way of a word back. A word is a few bytes, but where other data
// leaves the successor's host by the same link it waits for what is queued there.
struct RingEdge {
  int connection = 0;
  Seconds back;     // how long a word takes on an idle way
  int behind = -1;  // the connection whose data it follows instead; -1: none
};

// A communicator: GPUs in ring order and their connections to the next one. Channels run in step, so those of
// one ring edge are one Connection with the sockets of all.
class Ring {
 public:
  Ring(TaskGraph& graph, const Network& network, std::vector<int> devices, RingRules rules);
  // Over connections of the graph that are already there, one per rank.
  Ring(TaskGraph& graph, std::vector<RingEdge> edges, RingRules rules);

  // `size` is the buffer that is reduced, or what all ranks hold after gathering. `ready[r]` is the task
  // after which rank r takes part. Returns per rank the task after which it has its result.
  std::vector<TaskId> run(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready);
  // The same in chunks of another size; not `whole_chunks`: they are read line by line, the last of a loop too.
  std::vector<TaskId> run(Collective collective, Bytes size, Bytes chunk, bool whole_chunks, TagId tag,
                          std::span<const TaskId> ready);

  int size() const { return static_cast<int>(size_); }

 private:
  std::vector<TaskId> run_steps(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready);
  std::vector<TaskId> run_folded(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready);
  std::vector<TaskId> run_aggregated(int steps, Bytes size, TagId tag, std::span<const TaskId> ready);
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

// Pieces that a share is cut into (NCCL's loops, Gloo's segments), and transfers of a collective by steps: ranks x steps
// x pieces.
double loop_count(int ranks, Bytes size, const RingRules& rules);
double transfer_count(Collective collective, int ranks, Bytes size, const RingRules& rules);

}  // namespace slmsim
