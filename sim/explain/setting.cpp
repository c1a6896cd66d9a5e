#include "sim/explain/setting.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/name_in.h"

namespace slmsim {
namespace {

std::string tcp_path(const Vm& vm) { return fmt::format("platform.vms.{}.type.tcp.net.ipv4.", vm.name); }

}  // namespace

const std::vector<SocketSetting>& socket_settings() {
  static const std::vector<SocketSetting> kSettings = {{4, 1}, {4, 4}, {2, 8}};
  return kSettings;
}

void set_sockets(Nccl& nccl, const SocketSetting& setting) {
  nccl.socket_threads = setting.threads;
  nccl.sockets_per_thread = setting.sockets;
}

const std::vector<int>& channel_settings() {
  static const std::vector<int> kSettings = {4, 8};
  return kSettings;
}

const std::vector<BufferSetting>& buffer_settings() {
  static const std::vector<BufferSetting> kSettings = {{Bytes{64 * kMebi}, true}, {Bytes{64 * kMebi}, false}};
  return kSettings;
}

void set_buffers(Platform& platform, const BufferSetting& setting) {
  for (auto& vm : platform.vms) {
    vm.type.tcp.receive_buffer = std::max(vm.type.tcp.receive_buffer, setting.most);
    vm.type.tcp.send_buffer = std::max(vm.type.tcp.send_buffer, setting.most);
    vm.type.tcp.slow_start_after_idle = vm.type.tcp.slow_start_after_idle && setting.slow_start_after_idle;
  }
}

std::string threads_override(int threads) { return fmt::format("nccl.NCCL_SOCKET_NTHREADS={}", threads); }

std::string sockets_override(int per_thread) { return fmt::format("nccl.NCCL_NSOCKS_PERTHREAD={}", per_thread); }

std::string channels_override(int channels) { return fmt::format("nccl.NCCL_MIN_NCHANNELS={}", channels); }

std::string algorithm_override(NcclAlgorithm algorithm) {
  return "nccl.NCCL_ALGO=" + name_in(nccl_algorithm_names(), algorithm);
}

std::string buffer_override(Bytes size) { return "nccl.NCCL_BUFFSIZE=" + size_text(size); }

Overrides buffer_overrides(const Vm& vm, Bytes receive, Bytes send) {
  return {tcp_path(vm) + "tcp_rmem=" + size_text(receive), tcp_path(vm) + "tcp_wmem=" + size_text(send)};
}

std::string no_slow_start_after_idle(const Vm& vm) { return tcp_path(vm) + "tcp_slow_start_after_idle=no"; }

std::string size_text(Bytes size) {
  const double mebi = size.value / kMebi;
  return mebi == std::floor(mebi) ? fmt::format("{:.0f}MiB", mebi) : fmt::format("{:.0f}B", size.value);
}

}  // namespace slmsim
