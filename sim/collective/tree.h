// NCCL's all-reduce on a double binary tree.
//
// The GPUs of a node are a chain; over the nodes there is a binary tree in which leaves and inner nodes alternate, and a
// second one, mirrored (even number of nodes) or shifted by one (odd), in which the first one's leaves are inner nodes
// (Sanders, Speck, Träff, Parallel Computing 35, 2009; NCCL 2.15: src/graph/trees.cc). A node's first GPU has the parent
// and the second child, its second GPU the first child. Half of the channels use either tree.
//
// Sums go up and results go down at the same time, chunk after chunk (src/collectives/device/all_reduce.h,
// runTreeSplit): a rank passes a chunk on when its children's chunks have arrived. Latency is therefore paid once per
// edge of the path and not once per loop, as in a ring; and each edge carries half of the buffer, per tree, once up and
// once down.
#pragma once

#include <span>
#include <vector>

#include "sim/collective/ring.h"

namespace slmsim {

// The parent of each rank, -1 for the root. `nodes[r]`: the node of rank r; `which`: 0 or 1, the index of the tree.
std::vector<int> tree_parents(std::span<const int> nodes, int which);

struct TreeRules {
  int channels = 2;
  std::vector<int> sockets;  // per channel of an edge to rank r; empty: 1
  Detail detail = Detail::kSteps;
  int nic = -1;  // between nodes; -1: the NIC nearest to each sender
  Relays relays = {};
};

class Tree {
 public:
  // `nodes[r]`: the node of rank r.
  Tree(TaskGraph& graph, const Network& network, std::vector<int> devices, std::span<const int> nodes, TreeRules rules);

  // `chunk`: bytes per channel; `ready[r]`: the task after which rank r takes part. Returns per rank the task after
  // which it has the result.
  std::vector<TaskId> all_reduce(Bytes size, Bytes chunk, TagId tag, std::span<const TaskId> ready);

 private:
  struct Shape {
    int channels = 0;
    std::vector<int> parents;
    std::vector<int> down_order;  // ranks, parents before their children
    std::vector<int> up, down;    // connections to and from the parent; -1 at the root
  };
  // Returns the task after which each rank has this tree's part.
  std::vector<TaskId> run_steps(const Shape& tree, Bytes size, Bytes chunk, TagId tag, std::span<const TaskId> ready);
  std::vector<TaskId> run_aggregated(const Shape& tree, Bytes size, Bytes chunk, TagId tag,
                                     std::span<const TaskId> ready);
  // Time of one chunk over an idle connection.
  Seconds edge_time(int connection, Bytes piece) const;

  TaskGraph& graph_;
  std::vector<Shape> trees_;
  TreeRules rules_;
  std::size_t ranks_ = 0;
};

// Transfers of an all-reduce by steps: two per edge, tree and loop.
double tree_transfer_count(int ranks, Bytes size, Bytes chunk, int channels);

}  // namespace slmsim
