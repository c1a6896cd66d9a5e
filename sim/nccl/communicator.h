// The GPUs of a mesh as NCCL joins them: the one place that knows which algorithms there are. Each call runs as
// nccl_choice has it.
#pragma once

#include <optional>
#include <vector>

#include "sim/graph/collectives/ring.h"
#include "sim/graph/collectives/tree.h"
#include "sim/nccl/nccl_rules.h"
#include "sim/plan/sharding.h"

namespace slmsim {

class Communicator {
 public:
  // At least two devices, in ring order.
  Communicator(TaskGraph& graph, const Network& network, const Scenario& scenario, std::vector<int> devices);

  // `ready[r]` is the task after which rank r takes part. Returns per rank the task after which it has its result.
  std::vector<TaskId> run(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready);

  // The same beside what the GPUs compute: each channel holds a multiprocessor from when a rank is ready until it has its
  // result.
  std::vector<TaskId> run_beside(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready);

  // Transfers of a call if every chunk of it is one.
  double transfer_count(const CollectiveCall& call) const;
  // From here on calls are run in aggregate. Before the first call.
  void aggregate();

 private:
  std::vector<TaskId> run_by_vm(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready);
  void lay_rings();
  void split_by_vm();
  // Of one call, on the wire.
  struct Course {
    NcclChoice choice;
    Bytes size, chunk;
  };
  Course course_of(const CollectiveCall& call) const;
  std::vector<TaskId> run_tree(const Course& course, Bytes size, TagId tag, std::span<const TaskId> ready);
  int sockets_to(std::size_t rank) const;
  int rails() const;
  int nic_of(std::size_t order) const;
  bool together() const;
  void begin_order(std::size_t order, bool together);
  std::vector<Ring>& rings();
  std::vector<std::size_t> tree_order(std::size_t rail) const;
  std::vector<Tree>& trees();
  // Of collectives that carry a part each: `run(i, ready)` is the i-th, with its ranks in the i-th of these orders.
  template <class Run>
  std::vector<TaskId> run_parts(std::span<const std::vector<std::size_t>> orders, std::span<const TaskId> ready,
                                TagId tag, Run run);

  TaskGraph& graph_;
  const Network& network_;
  const Scenario& scenario_;
  std::vector<int> devices_;
  NcclView view_;
  int channels_ = 0;
  Detail detail_ = Detail::kSteps;
  // Connected with the first call that uses them.
  std::vector<std::vector<std::size_t>> orders_;       // ranks of each ring
  std::size_t one_way_ = 1;                            // orders of one direction
  std::vector<Ring> rings_;                            // empty: not yet connected
  std::vector<std::vector<std::size_t>> tree_orders_;  // ranks of each pair of trees
  std::vector<Tree> trees_;                            // likewise
  // For calls by VM: the ranks of each VM, and those of equal place in theirs; each with its communicator.
  struct Part;
  std::vector<Part> inside_, across_;
};

struct Communicator::Part {
  std::vector<std::size_t> ranks;
  Communicator communicator;
};

// GPUs of these that share a VM, VM by VM in the order of the first of each, as indices; empty where there are not several
// VMs with equally many GPUs, at least two.
std::vector<std::vector<std::size_t>> equal_vms(const Platform& platform, std::span<const int> devices);
// The rings over which NCCL spreads its channels, as orders of the ranks. In one node whose GPUs are joined in pairs
// (Network::route_inside knows how) cycles over those pairs: all of them up to four GPUs that are joined alike, else as many
// as links carry beside each other (mesh_rings.h). Between nodes one for each rail, which enters and leaves a node by GPUs
// near its NIC. Else one.
std::vector<std::vector<std::size_t>> ring_orders(const Platform& platform, const std::vector<int>& devices);
// Where no link joins two of these GPUs of one VM, but one is joined with both (mesh_rings.h).
Relays relays_of(const Platform& platform, std::span<const int> devices);
// The VMs of these GPUs from the first one's around the cycle whose round-trip times sum to the least: of up to 8 VMs the
// shortest of all, of more from each to the nearest. Of equals the first in the order given.
std::vector<int> cycle_of_vms(const Platform& platform, const Network& network, const std::vector<int>& devices);

// Sockets of NCCL's channels for messages from one GPU to another (NCCL_NCHANNELS_PER_NET_PEER and the channels of a pair
// are both 2 by default), and the connection with them.
int sockets_between(const Scenario& scenario, int from, int to);
int connect_pair(TaskGraph& graph, const Network& network, const Scenario& scenario, int from, int to);

}  // namespace slmsim
