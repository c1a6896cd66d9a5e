#include "sim/select/what_if.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/plan/nccl_rules.h"

namespace slmsim {
namespace {

constexpr double kLarger = 4;  // what buffers and sockets are multiplied with
constexpr int kMostThreads = 16, kMostSockets = 64;

std::string size_text(Bytes size) {
  const double mebi = size.value / kMebi;
  return mebi == std::floor(mebi) ? fmt::format("{:.0f}MiB", mebi) : fmt::format("{:.0f}B", size.value);
}

}  // namespace

std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group) {
  std::vector<Overrides> out;
  const Nccl& nccl = scenario.nccl;
  std::set<int> vms;
  for (const int device : group.devices) vms.insert(scenario.platform.devices[static_cast<std::size_t>(device)].vm);
  if (vms.size() > 1) {
    Overrides buffers, idle;
    int sockets = kMostSockets;
    for (const int index : vms) {
      const Vm& vm = scenario.platform.vms[static_cast<std::size_t>(index)];
      const std::string path = fmt::format("platform.vms.{}.type.tcp.net.ipv4.", vm.name);
      buffers.push_back(path + "tcp_rmem=" + size_text(vm.type.tcp.receive_buffer * kLarger));
      buffers.push_back(path + "tcp_wmem=" + size_text(vm.type.tcp.send_buffer * kLarger));
      if (vm.type.tcp.slow_start_after_idle) idle.push_back(path + "tcp_slow_start_after_idle=no");
      sockets = std::min(sockets, nccl_sockets(nccl, vm.type.cloud));
    }
    out.push_back(buffers);
    if (!idle.empty()) out.push_back(idle);
    const int threads = static_cast<int>(kLarger) * nccl.socket_threads.value_or(1);
    if (threads <= kMostThreads && threads * nccl.sockets_per_thread.value_or(1) > sockets)
      out.push_back({fmt::format("nccl.NCCL_SOCKET_NTHREADS={}", threads)});
  }
  if (group.devices.size() > 1) {
    for (const auto algorithm : {NcclAlgorithm::kRing, NcclAlgorithm::kTree}) {
      if (nccl.algorithm != algorithm)
        out.push_back({"nccl.NCCL_ALGO=" + nccl_algorithm_names()[static_cast<std::size_t>(algorithm)]});
    }
    out.push_back({"nccl.NCCL_BUFFSIZE=" + size_text(nccl.buffer * kLarger)});
    const int channels = nccl_channels(nccl, nccl_view(scenario.platform, group.devices));
    if (2 * channels <= kNcclMostChannels) out.push_back({fmt::format("nccl.NCCL_MIN_NCHANNELS={}", 2 * channels)});
  }
  const int now = prediction.plan->micro_batches;
  for (const int count : {now / 2, 2 * now}) {
    if (count >= 1 && count <= scenario.training.batch && scenario.training.batch % count == 0)
      out.push_back({fmt::format("techniques.{}.micro_batches={}", name_of(prediction.technique), count)});
  }
  return out;
}

}  // namespace slmsim
