// NCCL's sends and receives between pairs of GPUs.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/task_graph.h"
#include "sim/platform/nccl.h"
#include "sim/platform/network.h"

namespace slmsim {

// Connections of pairs of GPUs, each made on first use.
class Peers {
 public:
  Peers(TaskGraph& graph, const Network& network, const NcclSetup& nccl)
      : graph_(graph), network_(network), nccl_(nccl) {}

  int connection(int from, int to);

  // Sends bytes after `ready`, without waiting for the receiver. Returns their arrival.
  TaskId send(int from, int to, Bytes size, TagId tag, TaskId ready);
  // An NCCL send into a receive: the sender sends after `ready`, and the receive is posted after `posted` (kNoTask:
  // always). It is a rendezvous except for the bytes in NCCL's buffers (nccl_message_buffer) and in those of sockets. The
  // sender continues after `sent`, kNoTask where it need not wait; the receiver has all bytes after `received`.
  struct SendEnd {
    TaskId sent = kNoTask, received = kNoTask;
  };
  SendEnd pass(int from, int to, Bytes size, TagId tag, TaskId ready, TaskId posted);
  // The same with the receive that rank `at` posted; as send() where no rank posts its receives.
  SendEnd pass(int from, int to, Bytes size, TagId tag, TaskId ready, std::span<const TaskId> posted, std::size_t at) {
    if (posted.empty()) return {kNoTask, send(from, to, size, tag, ready)};
    return pass(from, to, size, tag, ready, posted[at]);
  }

  // NCCL has no all-to-all of its own: grouped sends and receives between all pairs. `size` is the total over the
  // devices; each sends an equal part of its data to each other one. Returns per device the task after which it has all
  // its data.
  std::vector<TaskId> all_to_all(std::span<const int> devices, Bytes size, TagId tag, std::span<const TaskId> ready);

 private:
  TaskGraph& graph_;
  const Network& network_;
  NcclSetup nccl_;
  struct Pair {
    int connection = 0;
    Bytes early, kept;        // that leave before the receive is posted, and that do not hold up the sender
    Seconds acknowledgement;  // after which arrived bytes are no longer kept
    TaskId posted = kNoTask;  // the receive of the pair's last send, if some bytes of that send wait for it
  };
  Pair& pair_of(int from, int to);

  std::map<std::pair<int, int>, Pair> pairs_;
};

// An all-reduce by shares: each of n ranks sends every other one its share, adds up the received parts, and sends the
// sum of its own share to all others. Each rank sends 2 (n - 1) / n of the buffer, as in a ring, but in two messages to
// each other rank and not in 2 (n - 1) steps around the ring: two latencies, and a separate path for every pair of
// ranks.
//
// It sums numbers with scales, which cannot be added directly: each rank decodes, adds and encodes once, where a ring
// would do so at every step and lose precision each time. Hivemind (Diskin et al., arXiv 2106.10207) and, with
// should_quantize, torchft do the same.

// `size`: the buffer on the wire. `sum(rank, received)`: the task after which a rank has summed its share, whose parts
// have arrived after `received`. Returns per rank the task after which it has all sums.
std::vector<TaskId> all_reduce_by_shares(Peers& peers, std::span<const int> devices, Bytes size, TagId tag,
                                         std::span<const TaskId> ready,
                                         const std::function<TaskId(std::size_t rank, TaskId received)>& sum);

}  // namespace slmsim
