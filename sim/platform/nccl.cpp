#include "sim/platform/nccl.h"

namespace slmsim {
namespace {

constexpr Bytes kDefaultBuffer{4 * kMebi};          // DEFAULT_BUFFSIZE, src/init.cc
constexpr Bytes kDefaultMessageChunk{128 * kKibi};  // likewise

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
  const auto count = [&](const FileKey& key, std::int64_t most, int fallback) {
    return static_cast<int>(fields.integer(key, {1, most}, fallback));
  };
  nccl.algorithm = static_cast<NcclAlgorithm>(
      fields.choice({"NCCL_ALGO", "The algorithm of collectives; auto: NCCL's tuning model chooses for each call."},
                    nccl_algorithm_names(), 0));
  nccl.protocol = static_cast<NcclProtocol>(
      fields.choice({"NCCL_PROTO", "The protocol of collectives; auto: NCCL's tuning model chooses for each call."},
                    nccl_protocol_names(), 0));
  nccl.min_channels = count({"NCCL_MIN_NCHANNELS", "Minimum number of channels of a communicator.",
                             "not set: NCCL uses 2 channels, more inside a VM with NVLink"},
                            kNcclMostChannels, 0);
  nccl.max_channels = count({"NCCL_MAX_NCHANNELS", "Maximum number of channels of a communicator."}, kNcclMostChannels,
                            kNcclMostChannels);
  constexpr const char* kByCloud = "1, or NCCL's value for the VM's cloud";
  if (fields.has("NCCL_NSOCKS_PERTHREAD")) {
    nccl.sockets_per_thread = count(
        {"NCCL_NSOCKS_PERTHREAD",
         "TCP connections of each thread of a channel; NCCL 2.15 uses it only if NCCL_SOCKET_NTHREADS is set too.",
         kByCloud},
        kNcclMostSockets, 1);
  }
  if (fields.has("NCCL_SOCKET_NTHREADS")) {
    nccl.socket_threads = count({"NCCL_SOCKET_NTHREADS",
                                 "Threads of a channel that copy into sockets; the channel's TCP connections are this "
                                 "times NCCL_NSOCKS_PERTHREAD, at most 64.",
                                 kByCloud},
                                kNcclMostThreads, 1);
  }
  nccl.buffer = fields.quantity<Bytes>({"NCCL_BUFFSIZE", "The buffer of a channel between two GPUs."},
                                       {{16 * kKibi}, {kGibi}}, kDefaultBuffer);
  nccl.message_chunk =
      fields.quantity<Bytes>({"NCCL_P2P_NET_CHUNKSIZE",
                              "Step size of a send; NCCL keeps 16 steps, and sockets more, for which a "
                              "sender need not wait for its receiver; 0 B: it waits."},
                             {{0}, {kGibi}}, kDefaultMessageChunk);
  nccl.ring_order =
      static_cast<RingOrder>(fields.choice({"ring_order",
                                            "Order of VMs in rings: by their numbers, as in NCCL, or along the "
                                            "shortest cycle by round-trip time, as if VMs were numbered so."},
                                           {"numbers", "distance"}, 0));
  fields.done();
  return nccl;
}

}  // namespace slmsim
