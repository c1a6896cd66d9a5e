// The settings of NCCL and of TCP that `slmsim plan` tries where the scenario allows it.
#pragma once

#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

struct SocketSetting {
  int threads = 1, sockets = 1;  // NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD
};
// NCCL's documentation gives 2 x 8 on AWS and 4 x 1 on Google Cloud and allows 64 in all; beside them its half steps.
const std::vector<SocketSetting>& socket_settings();
void set_sockets(Nccl& nccl, const SocketSetting& setting);

const std::vector<int>& channel_settings();  // NCCL_MIN_NCHANNELS

struct BufferSetting {
  Bytes most;  // tcp_rmem's and tcp_wmem's maximum
  bool slow_start_after_idle = true;
};
// 64 MiB is what ESnet's host tuning (fasterdata.es.net) gives for 10 Gbit/s over up to 100 ms.
const std::vector<BufferSetting>& buffer_settings();
void set_buffers(Platform& platform, const BufferSetting& setting);

}  // namespace slmsim
