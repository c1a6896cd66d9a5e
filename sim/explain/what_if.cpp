#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/collective/nccl_rules.h"
#include "sim/explain/explain.h"
#include "sim/explain/setting.h"

namespace slmsim {
namespace {

constexpr double kLarger = 4;  // factor for buffers and sockets

// Changes of a software stack's kernels that take a line or two of a program.
struct StackChange {
  std::string_view stack;
  const char* set;
};
constexpr StackChange kStackChanges[] = {
    {"eager", "software.stack=compiled"},     {"autocast", "software.stack=compiled-autocast"},
    {"eager", "software.attention=flash"},    {"autocast", "software.attention=flash"},
    {"megatron", "software.attention=flash"}, {"megatron-eager", "software.attention=flash"},
};

}  // namespace

std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group) {
  std::vector<Overrides> out;
  const Nccl& nccl = scenario.nccl;
  std::set<int> vms;
  for (const int device : group.devices) vms.insert(scenario.platform.devices[device].vm);
  if (vms.size() > 1) {
    Overrides buffers, idle;
    int sockets = kNcclMostSockets;
    for (const int index : vms) {
      const Vm& vm = scenario.platform.vms[index];
      const TcpSettings& tcp = vm.type.tcp;
      for (auto& one : buffer_overrides(vm, tcp.receive_buffer * kLarger, tcp.send_buffer * kLarger))
        buffers.push_back(std::move(one));
      if (tcp.slow_start_after_idle) idle.push_back(no_slow_start_after_idle(vm));
      sockets = std::min(sockets, nccl_sockets(nccl, vm.type.cloud));
    }
    out.push_back(buffers);
    if (!idle.empty()) out.push_back(idle);
    const int threads = static_cast<int>(kLarger) * nccl.socket_threads.value_or(1);
    if (threads <= kNcclMostThreads && threads * nccl.sockets_per_thread.value_or(1) > sockets)
      out.push_back({threads_override(threads)});
  }
  if (group.devices.size() > 1) {
    for (const auto algorithm : {NcclAlgorithm::kRing, NcclAlgorithm::kTree}) {
      if (nccl.algorithm != algorithm) out.push_back({algorithm_override(algorithm)});
    }
    out.push_back({buffer_override(nccl.buffer * kLarger)});
    const int channels = nccl_channels(nccl, nccl_view(scenario.platform, group.devices));
    if (2 * channels <= kNcclMostChannels) out.push_back({channels_override(2 * channels)});
  }
  for (const auto& change : kStackChanges) {
    if (change.stack == scenario.software.stack) out.push_back({change.set});
  }
  const int now = prediction.plan->micro_batches;
  for (const int count : {now / 2, 2 * now}) {
    if (count >= 1 && count <= scenario.training.batch && scenario.training.batch % count == 0)
      out.push_back({fmt::format("techniques.{}.micro_batches={}", prediction.technique->name, count)});
  }
  return out;
}

std::vector<Group> other_orders(const Platform& platform, const Group& group) {
  constexpr std::size_t kEveryOrder = 4;  // VMs
  // The part of the group on each VM. A name is that of a VM or of one of its GPUs.
  std::vector<Group> parts;
  std::map<int, std::size_t> part_of;
  for (const int device : group.devices) {
    const int vm = platform.devices[device].vm;
    const auto [at, is_new] = part_of.try_emplace(vm, parts.size());
    if (is_new) parts.emplace_back();
    parts[at->second].devices.push_back(device);
  }
  for (const auto& name : group.names) {
    for (const auto& [vm, part] : part_of) {
      const std::string& of = platform.vms[vm].name;
      if (name == of || name.starts_with(of + "/")) parts[part].names.push_back(name);
    }
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<std::size_t>> orders;
  if (parts.size() <= kEveryOrder) {
    while (std::next_permutation(order.begin(), order.end())) orders.push_back(order);
  } else {
    orders.emplace_back(order.rbegin(), order.rend());
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      orders.push_back(order);
      std::swap(orders.back()[i], orders.back()[i + 1]);
    }
  }
  std::vector<Group> out;
  for (const auto& one : orders) {
    Group& other = out.emplace_back();
    for (const std::size_t part : one) {
      other.names.insert(other.names.end(), parts[part].names.begin(), parts[part].names.end());
      other.devices.insert(other.devices.end(), parts[part].devices.begin(), parts[part].devices.end());
    }
  }
  return out;
}

}  // namespace slmsim
