#include "sim/plan/communicator.h"

#include <algorithm>
#include <array>

namespace slmsim {
namespace {

const Vm& vm_of(const Scenario& scenario, int device) {
  const Platform& platform = scenario.platform;
  return platform.vms[static_cast<std::size_t>(platform.devices[static_cast<std::size_t>(device)].vm)];
}

}  // namespace

Communicator::Communicator(TaskGraph& graph, const Network& network, const Scenario& scenario, std::vector<int> devices)
    : graph_(graph),
      network_(network),
      scenario_(scenario),
      devices_(std::move(devices)),
      view_(nccl_view(scenario.platform, devices_)),
      channels_(nccl_channels(scenario.nccl, view_)) {}

std::vector<std::vector<std::size_t>> equal_vms(const Platform& platform, std::span<const int> devices) {
  std::vector<std::vector<std::size_t>> vms;
  std::vector<int> names;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const int vm = platform.devices[static_cast<std::size_t>(devices[rank])].vm;
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
  const auto vms = equal_vms(scenario_.platform, devices_);
  const auto add = [&](std::vector<Part>& parts, std::vector<std::size_t> ranks) {
    std::vector<int> devices;
    for (const std::size_t rank : ranks) devices.push_back(devices_[rank]);
    Communicator communicator(graph_, network_, scenario_, std::move(devices));
    communicator.detail_ = detail_;
    parts.push_back({std::move(ranks), std::move(communicator)});
  };
  for (const auto& vm : vms) add(inside_, vm);
  for (std::size_t place = 0; !vms.empty() && place < vms.front().size(); ++place) {
    std::vector<std::size_t> ranks;
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

std::vector<TaskId> Communicator::run_by_vm(const CollectiveCall& call, std::uint32_t label,
                                            std::span<const TaskId> ready) {
  std::vector<TaskId> now(ready.begin(), ready.end());
  const auto step = [&](std::vector<Part>& parts, Collective collective, Bytes size) {
    for (auto& part : parts) {
      std::vector<TaskId> before;
      for (const std::size_t rank : part.ranks) before.push_back(now[rank]);
      const auto after = part.communicator.run({collective, size}, label, before);
      for (std::size_t i = 0; i < part.ranks.size(); ++i) now[part.ranks[i]] = after[i];
    }
  };
  step(inside_, Collective::kReduceScatter, call.size);
  step(across_, Collective::kAllReduce, call.size / static_cast<double>(across_.size()));
  step(inside_, Collective::kAllGather, call.size);
  return now;
}

std::vector<TaskId> Communicator::run(const CollectiveCall& call, std::uint32_t label, std::span<const TaskId> ready) {
  if (call.by_vm) split_by_vm();
  if (call.by_vm && !inside_.empty()) return run_by_vm(call, label, ready);
  const Course course = course_of(call);
  if (course.choice.algorithm == NcclAlgorithm::kTree)
    return tree().all_reduce(course.size, course.chunk, label, ready);
  return ring().run(call.collective, course.size, course.chunk, label, ready);
}

double Communicator::transfer_count(const CollectiveCall& call) const {
  if (const auto vms = call.by_vm ? equal_vms(scenario_.platform, devices_) : std::vector<std::vector<std::size_t>>{};
      !vms.empty()) {
    // As if each rank's three calls were as many as those of a ring over all.
    return 3 * transfer_count({call.collective, call.size, call.axes});
  }
  const Course course = course_of(call);
  if (course.choice.algorithm == NcclAlgorithm::kTree)
    return tree_transfer_count(view_.ranks, course.size, course.chunk, channels_);
  return slmsim::transfer_count(call.collective, view_.ranks, course.size,
                                {.channels = channels_, .chunk = course.chunk});
}

Communicator::Course Communicator::course_of(const CollectiveCall& call) const {
  const NcclChoice choice = nccl_choice(scenario_.nccl, view_, call.collective, call.size);
  return {choice, call.size * nccl_wire_factor(choice.protocol), nccl_chunk(scenario_.nccl, view_, choice, call.size)};
}

int Communicator::sockets_to(std::size_t rank) const {
  return nccl_sockets(scenario_.nccl, vm_of(scenario_, devices_[rank % devices_.size()]).type.cloud);
}

Ring& Communicator::ring() {
  if (!ring_) {
    RingRules rules{.channels = channels_, .chunk = {}, .detail = detail_};
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) rules.sockets.push_back(sockets_to(rank + 1));
    ring_.emplace(graph_, network_, devices_, std::move(rules));
  }
  return *ring_;
}

Tree& Communicator::tree() {
  if (!tree_) {
    TreeRules rules{.channels = channels_, .detail = detail_};
    std::vector<int> nodes;
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      rules.sockets.push_back(sockets_to(rank));
      nodes.push_back(scenario_.platform.devices[static_cast<std::size_t>(devices_[rank])].vm);
    }
    tree_.emplace(graph_, network_, devices_, nodes, std::move(rules));
  }
  return *tree_;
}

int sockets_between(const Scenario& scenario, int from, int to) {
  return nccl_channels(scenario.nccl, nccl_view(scenario.platform, std::array{from, to})) *
         nccl_sockets(scenario.nccl, vm_of(scenario, to).type.cloud);
}

int connect_pair(TaskGraph& graph, const Network& network, const Scenario& scenario, int from, int to) {
  return graph.add_connection({from, to, sockets_between(scenario, from, to), network.route(from, to)});
}

}  // namespace slmsim
