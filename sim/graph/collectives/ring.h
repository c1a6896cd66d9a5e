// Collectives on a ring of GPUs, as NCCL runs them.
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

struct RingRules {
  int channels = 2;
  int sockets_per_channel = 1;
  Bytes chunk;  // of one channel, one rank and one step
  Detail detail = Detail::kSteps;
  std::vector<int> sockets = {};  // per channel of the edge from rank r; empty: sockets_per_channel on all
};

// A communicator: GPUs in ring order and their connections to the next one. Channels run in step, so those of
// one ring edge are one Connection with the sockets of all.
class Ring {
 public:
  Ring(TaskGraph& graph, const Network& network, std::vector<int> devices, RingRules rules);

  // `size` is the buffer that is reduced, or what all ranks hold after gathering. `ready[r]` is the task
  // after which rank r takes part. Returns per rank the task after which it has its result.
  std::vector<TaskId> run(Collective collective, Bytes size, std::uint32_t label, std::span<const TaskId> ready);
  // The same in chunks of another size.
  std::vector<TaskId> run(Collective collective, Bytes size, Bytes chunk, std::uint32_t label,
                          std::span<const TaskId> ready);

  int size() const { return static_cast<int>(devices_.size()); }

 private:
  std::vector<TaskId> run_steps(int steps, Bytes size, std::uint32_t label, std::span<const TaskId> ready);
  std::vector<TaskId> run_aggregated(int steps, Bytes size, std::uint32_t label, std::span<const TaskId> ready);
  std::size_t previous(std::size_t rank) const { return rank == 0 ? devices_.size() - 1 : rank - 1; }

  TaskGraph& graph_;
  std::vector<int> devices_;
  std::vector<int> next_;  // connection from rank r to rank r + 1
  RingRules rules_;
};

// Steps of a collective on n ranks.
int step_count(Collective collective, int ranks);

// Loops that NCCL cuts a buffer into, and transfers of a collective by steps: ranks x steps x loops.
double loop_count(int ranks, Bytes size, const RingRules& rules);
double transfer_count(Collective collective, int ranks, Bytes size, const RingRules& rules);

// Bytes that each rank sends in total: steps / n of the buffer.
Bytes sent_per_rank(Collective collective, int ranks, Bytes size);

}  // namespace slmsim
