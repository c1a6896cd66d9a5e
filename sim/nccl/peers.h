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

  // NCCL has no all-to-all of its own: grouped sends and receives between all pairs. `size` is what the devices hold
  // together; each sends a part of its part to each other one. Returns per device the task after which it has all.
  std::vector<TaskId> all_to_all(std::span<const int> devices, Bytes size, TagId tag, std::span<const TaskId> ready);

 private:
  TaskGraph& graph_;
  const Network& network_;
  const Scenario& scenario_;
  std::map<std::pair<int, int>, int> connections_;
};

}  // namespace slmsim
