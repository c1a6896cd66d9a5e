// Settings of the collectives' library, by the names of NCCL's environment variables. Their effect is in
// sim/collective/nccl_rules.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"

namespace slmsim {

struct Platform;

// kAuto: NCCL's tuning model chooses for each call.
enum class NcclAlgorithm { kAuto, kRing, kTree };
enum class NcclProtocol { kAuto, kLl, kLl128, kSimple };
// "auto", "Ring", "Tree" and "auto", "LL", "LL128", "Simple", in the order of the enumerators.
const std::vector<std::string>& nccl_algorithm_names();
const std::vector<std::string>& nccl_protocol_names();

// In addition to NCCL's variables, the order of the rings between VMs: in the numbering of VMs, or along the shortest
// cycle by round-trip time, which a renumbering achieves.
enum class RingOrder { kAsNumbered, kByDistance };

// NCCL 2.15: MAXCHANNELS, src/include/devcomm.h; MAX_SOCKETS and MAX_THREADS, src/transport/net_socket.cc.
inline constexpr int kNcclMostChannels = 32, kNcclMostSockets = 64, kNcclMostThreads = 16;

struct Nccl {
  NcclAlgorithm algorithm = NcclAlgorithm::kAuto;  // NCCL_ALGO
  NcclProtocol protocol = NcclProtocol::kAuto;     // NCCL_PROTO
  int min_channels = 0;                            // NCCL_MIN_NCHANNELS; 0: not set
  int max_channels = kNcclMostChannels;            // NCCL_MAX_NCHANNELS
  std::optional<int> sockets_per_thread;           // NCCL_NSOCKS_PERTHREAD; absent: by the VM's cloud
  std::optional<int> socket_threads;               // NCCL_SOCKET_NTHREADS; absent: by the VM's cloud
  Bytes buffer;                                    // NCCL_BUFFSIZE
  Bytes message_chunk;                             // NCCL_P2P_NET_CHUNKSIZE
  RingOrder ring_order = RingOrder::kAsNumbered;

  bool operator==(const Nccl&) const = default;
};

Nccl read_nccl(Fields fields);

// All that NCCL's choices depend on: the machines as its topology search finds them, and its settings. A network beside it may
// be another one's (sim/explain/limits.h).
struct NcclSetup {
  const Platform& platform;
  const Nccl& settings;
};

}  // namespace slmsim
