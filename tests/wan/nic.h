// One host whose single NIC leads to several others, each at its own distance: who gets how much of it.
//
// Enters: who shares. Leaves: what each got. Three network namespaces; a relay's thread is the NIC and the paths, or,
// for Queueing::kKernel, the paths only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/wan/transfer.h"

namespace slmsim::wan {

// Names as in results/nic_sharing.csv.
//   fifo    a device after the host: tail drop behind 1000 packets (Linux' txqueuelen)
//   fair    the same with fair queueing and CoDel
//   kernel  the host's own queueing discipline (tbf, as a NIC of that rate), which TCP sees: it hands over only about a
//           millisecond's worth of each connection (TCP small queues)
struct Sharing {
  std::string queueing = "fifo";
  double rate = 400;                              // Mbit/s of IP packets, out of the NIC
  double near_rtt = 0.1, far_rtt = 57.4;          // ms
  int near_connections = 1, far_connections = 1;  // CUBIC
  std::int64_t wmem = 4 << 20, rmem = 6 << 20;    // B, the third values of tcp_wmem and tcp_rmem

  bool operator==(const Sharing&) const = default;
};

struct Shares {
  double near = 0, far = 0;  // B/s of payload, all connections of each
  double far_ping = 0;       // s, least round trip to the far host on an idle path
  std::uint64_t dropped = 0;
};

// Everyone sends without pause; counted from `from` to `until`, seconds after the start.
Shares share(const Sharing& what, double from, double until);

}  // namespace slmsim::wan
