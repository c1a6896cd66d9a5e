#include "sim/scenario/nccl.h"

namespace slmsim {
namespace {

constexpr Bytes kDefaultBuffer{4 * kMebi};  // DEFAULT_BUFFSIZE, src/init.cc
constexpr std::int64_t kMostSockets = 64;   // MAX_SOCKETS, src/transport/net_socket.cc
constexpr std::int64_t kMostThreads = 16;   // MAX_THREADS, likewise

}  // namespace

const std::vector<std::string>& nccl_algorithm_names() {
  static const std::vector<std::string> kNames = {"auto", "Ring", "Tree"};
  return kNames;
}

const std::vector<std::string>& nccl_protocol_names() {
  static const std::vector<std::string> kNames = {"auto", "LL", "LL128", "Simple"};
  return kNames;
}

Nccl read_nccl(Fields fields) {
  Nccl nccl;
  const auto count = [&](const std::string& key, std::int64_t most, int fallback) {
    return static_cast<int>(fields.integer(key, {1, most}, fallback));
  };
  nccl.algorithm = static_cast<NcclAlgorithm>(fields.choice("NCCL_ALGO", nccl_algorithm_names(), 0));
  nccl.protocol = static_cast<NcclProtocol>(fields.choice("NCCL_PROTO", nccl_protocol_names(), 0));
  nccl.min_channels = count("NCCL_MIN_NCHANNELS", kNcclMostChannels, 0);
  nccl.max_channels = count("NCCL_MAX_NCHANNELS", kNcclMostChannels, kNcclMostChannels);
  if (fields.has("NCCL_NSOCKS_PERTHREAD")) nccl.sockets_per_thread = count("NCCL_NSOCKS_PERTHREAD", kMostSockets, 1);
  if (fields.has("NCCL_SOCKET_NTHREADS")) nccl.socket_threads = count("NCCL_SOCKET_NTHREADS", kMostThreads, 1);
  nccl.buffer = fields.quantity<Bytes>("NCCL_BUFFSIZE", {{16 * kKibi}, {kGibi}}, kDefaultBuffer);
  fields.done();
  return nccl;
}

}  // namespace slmsim
