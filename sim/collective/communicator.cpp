#include "sim/collective/communicator.h"

#include <algorithm>
#include <array>

#include "sim/collective/ring.h"

namespace slmsim {
namespace {

const Vm& vm_of(const Platform& platform, int device) { return platform.vms[platform.devices[device].vm]; }

}  // namespace

Communicator::Communicator(TaskGraph& graph, const Network& network, const NcclSetup& nccl, std::vector<int> devices)
    : graph_(graph),
      network_(network),
      nccl_(nccl),
      devices_(std::move(devices)),
      view_(nccl_view(nccl.platform, devices_)),
      channels_(nccl_channels(nccl.settings, view_)),
      orders_(ring_orders(nccl.platform, devices_)) {
  lay_rings();
}

void Communicator::lay_rings() {
  const Platform& platform = nccl_.platform;
  if (view_.nodes > 2 && nccl_.settings.ring_order == RingOrder::kByDistance) {
    const std::vector<int> vms = cycle_of_vms(platform, network_, devices_);
    const auto place = [&](std::size_t rank) {
      return std::find(vms.begin(), vms.end(), platform.devices[devices_[rank]].vm);
    };
    for (auto& order : orders_)
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return place(a) < place(b); });
  }
}

std::vector<std::vector<std::size_t>> equal_vms(const Platform& platform, std::span<const int> devices) {
  std::vector<std::vector<std::size_t>> vms;
  std::vector<int> names;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const int vm = platform.devices[devices[rank]].vm;
    const auto at = std::find(names.begin(), names.end(), vm);
    const auto index = static_cast<std::size_t>(at - names.begin());
    if (at == names.end()) {
      names.push_back(vm);
      vms.emplace_back();
    }
    vms[index].push_back(rank);
  }
  const bool equal = vms.size() > 1 && vms.front().size() > 1 &&
                     std::all_of(vms.begin(), vms.end(), [&](const auto& v) { return v.size() == vms.front().size(); });
  return equal ? vms : std::vector<std::vector<std::size_t>>{};
}

void Communicator::split_by_vm() {
  if (!inside_.empty()) return;
  const auto vms = equal_vms(nccl_.platform, devices_);
  const auto add = [&](std::vector<Part>& parts, std::vector<std::size_t> ranks) {
    std::vector<int> devices;
    devices.reserve(ranks.size());
    for (const std::size_t rank : ranks) devices.push_back(devices_[rank]);
    Communicator communicator(graph_, network_, nccl_, std::move(devices));
    communicator.detail_ = detail_;
    parts.push_back({std::move(ranks), std::move(communicator)});
  };
  for (const auto& vm : vms) add(inside_, vm);
  for (std::size_t place = 0; !vms.empty() && place < vms.front().size(); ++place) {
    std::vector<std::size_t> ranks;
    ranks.reserve(vms.size());
    for (const auto& vm : vms) ranks.push_back(vm[place]);
    add(across_, std::move(ranks));
  }
}

void Communicator::aggregate() {
  detail_ = Detail::kAggregated;
  for (auto* parts : {&inside_, &across_}) {
    for (auto& part : *parts) part.communicator.aggregate();
  }
}

std::vector<TaskId> Communicator::run_by_vm(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready) {
  std::vector<TaskId> now(ready.begin(), ready.end());
  const auto step = [&](std::vector<Part>& parts, Collective collective, Bytes size) {
    for (auto& part : parts) {
      std::vector<TaskId> before;
      for (const std::size_t rank : part.ranks) before.push_back(now[rank]);
      const auto after = part.communicator.run({collective, size}, tag, before);
      for (std::size_t i = 0; i < part.ranks.size(); ++i) now[part.ranks[i]] = after[i];
    }
  };
  // Calls of one communicator run in sequence; those of different ones need not.
  const Bytes piece = call.size / static_cast<double>(call.pieces);
  std::vector<std::vector<TaskId>> pieces(static_cast<std::size_t>(call.pieces), now);
  for (const int phase : {0, 1, 2}) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      now = pieces[i];
      for (std::size_t rank = 0; i > 0 && rank < now.size(); ++rank)
        now[rank] = graph_.delay({0}, tag, std::array{now[rank], pieces[i - 1][rank]});
      if (phase == 0) step(inside_, Collective::kReduceScatter, piece);
      if (phase == 1) step(across_, Collective::kAllReduce, piece / static_cast<double>(across_.size()));
      if (phase == 2) step(inside_, Collective::kAllGather, piece);
      pieces[i] = now;
    }
  }
  return pieces.back();
}

std::vector<TaskId> Communicator::run(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready) {
  if (call.by_vm) split_by_vm();
  if (call.by_vm && !inside_.empty()) return run_by_vm(call, tag, ready);
  const NcclCall& nccl = nccl_call_of(call);
  if (nccl.choice.algorithm == NcclAlgorithm::kTree) return run_tree(nccl, call.size, tag, ready);
  auto& all = rings();
  const Bytes size = nccl.size / static_cast<double>(all.size());
  return run_parts(orders_, ready, tag, [&](std::size_t i, std::span<const TaskId> before) {
    const bool whole_chunks = nccl.choice.protocol == NcclProtocol::kSimple;
    return all[i].run(call.collective, size, nccl.chunk, whole_chunks, tag, before);
  });
}

std::vector<TaskId> Communicator::run_beside(const CollectiveCall& call, TagId tag, std::span<const TaskId> ready) {
  const auto held = [&](std::size_t rank) {
    const auto device = static_cast<std::size_t>(devices_[rank]);
    return TaskGraph::SmShare{channels_, nccl_.platform.devices[device].gpu.multiprocessors};
  };
  std::vector<TaskId> begun;
  for (std::size_t rank = 0; rank < devices_.size(); ++rank)
    begun.push_back(graph_.hold(devices_[rank], held(rank), tag, std::array{ready[rank]}));
  std::vector<TaskId> done = run(call, tag, begun);
  for (std::size_t rank = 0; rank < devices_.size(); ++rank)
    graph_.release(devices_[rank], held(rank), tag, std::array{done[rank]});
  return done;
}

std::pair<int, int> Communicator::connect(const CollectiveCall& call) {
  const bool by_tree = nccl_call_of(call).choice.algorithm == NcclAlgorithm::kTree;
  auto& [first, end] = by_tree ? opened_by_trees_ : opened_by_rings_;
  if (end > first) return {first, end};
  first = graph_.opened();
  by_tree ? void(trees()) : void(rings());
  end = graph_.opened();
  return {first, end};
}

template <class Run>
std::vector<TaskId> Communicator::run_parts(std::span<const std::vector<std::size_t>> orders,
                                            std::span<const TaskId> ready, TagId tag, Run run) {
  if (orders.size() == 1 && std::ranges::is_sorted(orders.front())) return run(0, ready);
  std::vector<std::vector<TaskId>> parts(devices_.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    std::vector<TaskId> before;
    for (const std::size_t rank : orders[i]) before.push_back(ready[rank]);
    const auto done = run(i, before);
    for (std::size_t at = 0; at < done.size(); ++at) parts[orders[i][at]].push_back(done[at]);
  }
  std::vector<TaskId> out;
  out.reserve(parts.size());
  for (const auto& part : parts) out.push_back(part.size() == 1 ? part.front() : graph_.delay({0}, tag, part));
  return out;
}

// Time on the links and, at the same time, on the GPUs, whose kernels start when all ranks are ready.
std::vector<TaskId> Communicator::run_tree(const NcclCall& nccl, Bytes size, TagId tag, std::span<const TaskId> ready) {
  const TaskId begin = graph_.delay({0}, tag, ready);
  const Seconds least = nccl_tree_time(nccl_.settings, view_, nccl.choice, size);
  Tag of_kernels = graph_.tags()[tag];
  of_kernels.of = TaskClass::kKernels;
  const TaskId kernels = graph_.delay(least, graph_.tag(std::move(of_kernels)), std::span(&begin, 1));
  auto& all = trees();
  const Bytes part = nccl.size / static_cast<double>(all.size());
  std::vector<TaskId> done = run_parts(tree_orders_, ready, tag, [&](std::size_t i, std::span<const TaskId> before) {
    return all[i].all_reduce(part, nccl.chunk, tag, before);
  });
  for (TaskId& task : done) task = graph_.delay({0}, tag, std::array{task, kernels});
  return done;
}

double Communicator::transfer_count(const CollectiveCall& call) const {
  if (const auto vms = call.by_vm ? equal_vms(nccl_.platform, devices_) : std::vector<std::vector<std::size_t>>{};
      !vms.empty()) {
    // As if each rank's three calls had the transfers of a ring over all ranks.
    return 3 * call.pieces * transfer_count({call.collective, call.size / call.pieces, call.axes});
  }
  const NcclCall& nccl = nccl_call_of(call);
  if (nccl.choice.algorithm == NcclAlgorithm::kTree) {
    const int rails = this->rails();
    return rails * tree_transfer_count(view_.ranks, nccl.size / rails, nccl.chunk, std::max(1, channels_ / rails));
  }
  return slmsim::transfer_count(
      call.collective, view_.ranks, nccl.size,
      {.channels = channels_, .chunk = nccl.chunk, .slices = nccl_slices(view_, nccl.choice.protocol)});
}

const Communicator::NcclCall& Communicator::nccl_call_of(const CollectiveCall& call) const {
  const auto known = std::ranges::find_if(
      calls_, [&](const NcclCall& one) { return one.collective == call.collective && one.data == call.size; });
  if (known != calls_.end()) return *known;
  const NcclChoice choice = nccl_choice(nccl_.settings, view_, call.collective, call.size);
  calls_.push_back({call.collective, call.size, choice, call.size * nccl_wire_factor(choice.protocol),
                    nccl_chunk(nccl_.settings, view_, choice, call.size)});
  return calls_.back();
}

int Communicator::sockets_to(std::size_t rank) const {
  return nccl_sockets(nccl_.settings, vm_of(nccl_.platform, devices_[rank % devices_.size()]).type.cloud);
}

// In a node all ranks of a ring are assumed to begin with the last one: each needs data of every other rank, so none
// ends earlier, and the end of the last one is exact. The others would end microseconds earlier, by a few hops'
// latencies.
bool Communicator::together() const { return view_.nodes == 1; }

// Connections of equal orders may be folded; the same two devices may be neighbours in different orders.
void Communicator::begin_order(std::size_t order, bool together) {
  if (order > 0 && orders_[order] == orders_[order - 1]) return;
  graph_.begin_group(together ? std::span<const int>(devices_) : std::span<const int>());
}

std::vector<Ring>& Communicator::rings() {
  if (!rings_.empty()) return rings_;
  const int each = std::max(1, channels_ / static_cast<int>(orders_.size()));
  std::vector<std::vector<int>> devices;
  for (const auto& order : orders_) {
    devices.emplace_back();
    for (const std::size_t rank : order) devices.back().push_back(devices_[rank]);
  }
  const Relays relays = relays_of(nccl_.platform, devices_);
  const auto copies = last_copies(network_, devices, each, relays);
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    RingRules rules{.channels = each,
                    .chunk = {},
                    .detail = detail_,
                    .slices = nccl_slices(view_, NcclProtocol::kSimple),
                    .together = together(),
                    .nic = nic_of(i)};
    rules.relays = relays;
    if (!copies.empty()) rules.last_copy = copies[i];
    for (std::size_t at = 0; at < orders_[i].size(); ++at)
      rules.sockets.push_back(sockets_to(orders_[i][(at + 1) % orders_[i].size()]));
    begin_order(i, together());
    rings_.emplace_back(graph_, network_, std::move(devices[i]), std::move(rules));
  }
  graph_.begin_group();
  return rings_;
}

// Orders of one node's GPUs are rings only; between nodes each belongs to a rail.
int Communicator::rails() const { return view_.nodes > 1 ? static_cast<int>(orders_.size()) : 1; }

int Communicator::nic_of(std::size_t order) const { return rails() > 1 ? static_cast<int>(order) : -1; }

// On rails a tree traverses a node's GPUs in the opposite direction of a ring: its second GPU has a child on another
// node, and is the ring's last one, which is near the NIC too (NCCL 2.19, src/graph/search.cc:
// ncclTopoSearchNextGpuSort has the upper neighbour first for NCCL_TOPO_PATTERN_BALANCED_TREE, the lower one for
// rings).
std::vector<std::size_t> Communicator::tree_order(std::size_t rail) const {
  std::vector<std::size_t> order = orders_[rail];
  if (rails() == 1) return order;
  const auto vm = [&](std::size_t rank) { return nccl_.platform.devices[devices_[rank]].vm; };
  for (auto first = order.begin(); first != order.end();) {
    const auto end = std::find_if(first, order.end(), [&](std::size_t rank) { return vm(rank) != vm(*first); });
    std::reverse(first + 1, end);
    first = end;
  }
  return order;
}

std::vector<Tree>& Communicator::trees() {
  if (!trees_.empty()) return trees_;
  const Relays relays = relays_of(nccl_.platform, devices_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rails()); ++i) {
    TreeRules rules{.channels = std::max(1, channels_ / rails()), .detail = detail_, .nic = nic_of(i)};
    rules.relays = relays;
    std::vector<int> devices, nodes;
    tree_orders_.push_back(tree_order(i));
    for (const std::size_t rank : tree_orders_.back()) {
      rules.sockets.push_back(sockets_to(rank));
      devices.push_back(devices_[rank]);
      nodes.push_back(nccl_.platform.devices[devices_[rank]].vm);
    }
    begin_order(i, false);
    trees_.emplace_back(graph_, network_, std::move(devices), nodes, std::move(rules));
  }
  return trees_;
}

int sockets_between(const NcclSetup& nccl, int from, int to) {
  return nccl_channels(nccl.settings, nccl_view(nccl.platform, std::array{from, to})) *
         nccl_sockets(nccl.settings, vm_of(nccl.platform, to).type.cloud);
}

}  // namespace slmsim
