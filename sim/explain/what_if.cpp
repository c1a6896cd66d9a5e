#include "sim/explain/what_if.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/explain/setting.h"
#include "sim/nccl/nccl_rules.h"

namespace slmsim {
namespace {

constexpr double kLarger = 4;  // what buffers and sockets are multiplied with

}  // namespace

std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group) {
  std::vector<Overrides> out;
  const Nccl& nccl = scenario.nccl;
  std::set<int> vms;
  for (const int device : group.devices) vms.insert(scenario.platform.devices[static_cast<std::size_t>(device)].vm);
  if (vms.size() > 1) {
    Overrides buffers, idle;
    int sockets = kNcclMostSockets;
    for (const int index : vms) {
      const Vm& vm = scenario.platform.vms[static_cast<std::size_t>(index)];
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
  const int now = prediction.plan->micro_batches;
  for (const int count : {now / 2, 2 * now}) {
    if (count >= 1 && count <= scenario.training.batch && scenario.training.batch % count == 0)
      out.push_back({fmt::format("techniques.{}.micro_batches={}", prediction.technique->name, count)});
  }
  return out;
}

}  // namespace slmsim
