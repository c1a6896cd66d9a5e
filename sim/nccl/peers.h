// NCCL's sends and receives between pairs of GPUs.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Connections of pairs of GPUs, each made when it is first used.
class Peers {
 public:
  Peers(TaskGraph& graph, const Network& network, const Scenario& scenario)
      : graph_(graph), network_(network), scenario_(scenario) {}

  int connection(int from, int to);

  // Bytes that go as soon as `ready`. Returns their arrival.
  TaskId send(int from, int to, Bytes size, TagId tag, TaskId ready);
  // A send of NCCL's into a receive: `ready` is the task after which the sender sends, `posted` that after which the receiver's receive is
  // there (kNoTask: always). It is a rendezvous but for what NCCL's buffers hold (nccl_message_buffer). `sent` is the task
  // after which the sender goes on, kNoTask where it need not wait; after `received` the receiver has all.
  struct Passed {
    TaskId sent = kNoTask, received = kNoTask;
  };
  Passed pass(int from, int to, Bytes size, TagId tag, TaskId ready, TaskId posted);

  // NCCL has no all-to-all of its own: grouped sends and receives between all pairs. `size` is what the devices hold
  // together; each sends a part of its part to each other one. Returns per device the task after which it has all.
  std::vector<TaskId> all_to_all(std::span<const int> devices, Bytes size, TagId tag, std::span<const TaskId> ready);

 private:
  TaskGraph& graph_;
  const Network& network_;
  const Scenario& scenario_;
  std::map<std::pair<int, int>, int> connections_;
  std::map<std::pair<int, int>, TaskId>
      posted_;  // the receive of the pair's last send, where bytes of it wait for that
};

}  // namespace slmsim
