// A mesh's GPUs as an NCCL communicator: the only place that knows which algorithms exist. Each call follows
// nccl_choice.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/collective/call.h"
#include "sim/collective/nccl_rules.h"
#include "sim/collective/ring.h"
#include "sim/collective/tree.h"

namespace slmsim {

class Communicator {
 public:
  // At least two devices, in ring order.
  Communicator(TaskGraph& graph, const Network& network, const NcclSetup& nccl, std::vector<int> devices);

  // `ready[r]` is the task after which rank r takes part. Returns per rank the task after which it has its result.
  std::vector<TaskId> run(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready);

  // The same beside the GPUs' computations: each channel holds a multiprocessor from when a rank is ready until it has
  // its result.
  std::vector<TaskId> run_beside(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready);

  // Opens the connections of calls like this one, which must not be by VM, before the first. Returns the first one's number, and
  // that after the last one's.
  std::pair<int, int> connect(const CollectiveCall& call);

  // Number of transfers of a call by steps.
  double transfer_count(const CollectiveCall& call) const;
  // From here on calls are aggregated. Call before the first run.
  void aggregate();

 private:
  std::vector<TaskId> run_by_vm(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready);
  void lay_rings();
  void split_by_vm();
  struct NcclCall {
    Collective collective;
    Bytes data;  // call's size before the protocol's flags
    NcclChoice choice;
    Bytes size, chunk;
  };
  // Valid until the next call.
  const NcclCall& nccl_call_of(const CollectiveCall& call) const;
  std::vector<TaskId> run_tree(const NcclCall& nccl, Bytes size, TagId tag, std::span<const TaskId> ready);
  int sockets_to(std::size_t rank) const;
  int rails() const;
  int nic_of(std::size_t order) const;
  bool together() const;
  void begin_order(std::size_t order, bool together);
  std::vector<Ring>& rings();
  std::vector<std::size_t> tree_order(std::size_t rail) const;
  std::vector<Tree>& trees();
  // Runs collectives with a part of the data each: `run(i, ready)` is the i-th, with its ranks in the i-th of these
  // orders.
  template <class Run>
  std::vector<TaskId> run_parts(std::span<const std::vector<std::size_t>> orders, std::span<const TaskId> ready,
                                TagId tag, Run run);

  TaskGraph& graph_;
  const Network& network_;
  NcclSetup nccl_;
  std::vector<int> devices_;
  NcclView view_;
  int channels_ = 0;
  Detail detail_ = Detail::kSteps;
  // Connected by the first call that uses them.
  std::vector<std::vector<std::size_t>> orders_;  // ranks of each ring
  std::vector<Ring> rings_;                       // empty: not yet connected
  std::pair<int, int> opened_by_rings_, opened_by_trees_;
  std::vector<std::vector<std::size_t>> tree_orders_;  // ranks of each pair of trees
  std::vector<Tree> trees_;                            // as for rings
  // For calls by VM: the ranks of each VM, and the ranks of equal position in their VMs; each with its communicator.
  struct Part;
  std::vector<Part> inside_, across_;
  mutable std::vector<NcclCall> calls_;  // each kind of call once: an iteration has few
};

struct Communicator::Part {
  std::vector<std::size_t> ranks;
  Communicator communicator;
};

// Groups of these GPUs by VM, in the order of each VM's first GPU, as indices; empty unless there are several VMs with
// equally many GPUs, at least two.
std::vector<std::vector<std::size_t>> equal_vms(const Platform& platform, std::span<const int> devices);
// The rings over which NCCL spreads its channels, as orders of the ranks. In one node with pairwise links between GPUs
// (Network::route_inside), cycles over those links: all cycles for up to four equally joined GPUs, else the number that fits
// on the links (mesh_rings.h). Between nodes one for each rail, which enters and leaves a node by GPUs near its NIC.
// Else one.
std::vector<std::vector<std::size_t>> ring_orders(const Platform& platform, const std::vector<int>& devices);
// Relays for pairs of GPUs of one VM without a direct link: a GPU with links to both (mesh_rings.h).
Relays relays_of(const Platform& platform, std::span<const int> devices);
// The VMs of these GPUs, from the first one's, along the cycle with the least sum of round-trip times: for up to 8 VMs
// the optimum, for more from each to its nearest. Ties by the given order.
std::vector<int> cycle_of_vms(const Platform& platform, const Network& network, const std::vector<int>& devices);

// Sockets of NCCL's channels for messages between two GPUs (NCCL_NCHANNELS_PER_NET_PEER and the channels of a pair are
// both 2 by default).
int sockets_between(const NcclSetup& nccl, int from, int to);

}  // namespace slmsim
