#include "sim/plan/communicator.h"

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

std::vector<TaskId> Communicator::run(const CollectiveCall& call, std::uint32_t label, std::span<const TaskId> ready) {
  const Course course = course_of(call);
  if (course.choice.algorithm == NcclAlgorithm::kTree)
    return tree().all_reduce(course.size, course.chunk, label, ready);
  return ring().run(call.collective, course.size, course.chunk, label, ready);
}

double Communicator::transfer_count(const CollectiveCall& call) const {
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
