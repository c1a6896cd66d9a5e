// NCCL's sends and receives between pairs of GPUs.
#pragma once

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
  Peers(TaskGraph& graph, const Network& network, const Nccl& nccl)
      : graph_(graph), network_(network), nccl_(nccl) {}

  int connection(int from, int to);

  // Sends bytes after `ready`, without waiting for the receiver. Returns their arrival.
  TaskId send(int from, int to, Bytes size, TagId tag, TaskId ready);
  // An NCCL send into a receive: the sender sends after `ready`, and the receive is posted after `posted` (kNoTask:
  // always). It is a rendezvous except for the bytes in NCCL's buffers (nccl_message_buffer). The sender continues
  // after `sent`, kNoTask where it need not wait; the receiver has all bytes after `received`.
  struct SendEnd {
    TaskId sent = kNoTask, received = kNoTask;
  };
  SendEnd pass(int from, int to, Bytes size, TagId tag, TaskId ready, TaskId posted);

  // NCCL has no all-to-all of its own: grouped sends and receives between all pairs. `size` is the total over the
  // devices; each sends an equal part of its data to each other one. Returns per device the task after which it has all
  // its data.
  std::vector<TaskId> all_to_all(std::span<const int> devices, Bytes size, TagId tag, std::span<const TaskId> ready);

 private:
  TaskGraph& graph_;
  const Network& network_;
  const Nccl& nccl_;
  std::map<std::pair<int, int>, int> connections_;
  std::map<std::pair<int, int>, TaskId>
      posted_;  // the receive of the pair's last send, if some bytes of that send wait for it
};

}  // namespace slmsim
