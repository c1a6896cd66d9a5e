// Values of NCCL's and TCP's settings to try, and their form for --set. `slmsim plan` tries the values listed here where the
// scenario allows it; `slmsim explain` starts from the scenario's own values.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

struct SocketSetting {
  int threads = 1, sockets = 1;  // NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD
};
// NCCL's documentation gives 2 x 8 on AWS and 4 x 1 on Google Cloud and allows 64 in all; this list adds the half steps.
const std::vector<SocketSetting>& socket_settings();
void set_sockets(Nccl& nccl, const SocketSetting& setting);

const std::vector<int>& channel_settings();  // NCCL_MIN_NCHANNELS

struct BufferSetting {
  Bytes most;  // maximum of tcp_rmem and tcp_wmem
  bool slow_start_after_idle = true;
};
// 64 MiB is the value in ESnet's host tuning (fasterdata.es.net) for 10 Gbit/s over up to 100 ms.
const std::vector<BufferSetting>& buffer_settings();
void set_buffers(Platform& platform, const BufferSetting& setting);

// As overrides.
std::string threads_override(int threads);
std::string sockets_override(int per_thread);
std::string channels_override(int channels);
std::string algorithm_override(NcclAlgorithm algorithm);
std::string buffer_override(Bytes size);                              // NCCL's
Overrides buffer_overrides(const Vm& vm, Bytes receive, Bytes send);  // TCP's
std::string no_slow_start_after_idle(const Vm& vm);
// "16MiB".
std::string size_text(Bytes size);

}  // namespace slmsim
