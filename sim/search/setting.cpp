#include "sim/search/setting.h"

#include <algorithm>

namespace slmsim {

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

}  // namespace slmsim
