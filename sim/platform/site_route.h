// The route between sites, for people: its links, transit sites, round-trip time, and the rate of one TCP connection.
//
// One connection carries the minimum of its mean window per round trip (mean_window in sim/platform/network.h), a
// thread's copy rate through a socket, and the rates of NICs and links. Several connections, as NCCL's channels open,
// carry more.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

struct SiteRoute {
  std::string from, to;            // sites
  std::vector<std::string> links;  // in order
  std::vector<std::string> over;   // transit sites, in order
  Seconds rtt;
  // Rate of one TCP connection in each direction, between the sites' VMs with the lowest rate; 0: RDMA, no connection.
  BytesPerSecond there, back;
  BytesPerSecond shared;  // all traffic there together, by the links; 0: each connection or pair of VMs has its own
  BytesPerSecond pair;    // traffic there of two VMs; 0: not limited
  std::string bound_there, bound_back;  // the limiting factor: "window", "loss", "copy rate", or a link's name
};

// One entry per pair of sites with VMs, in the platform's order, `most` entries at most.
std::vector<SiteRoute> site_routes(const Platform& platform, std::size_t most);

// "gat to amst by wan: RTT 103 ms; 1 GB/s for all; one TCP connection carries 20 MB/s (window)".
std::string to_text(const SiteRoute& route);

}  // namespace slmsim
