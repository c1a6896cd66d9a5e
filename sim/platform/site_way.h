// What lies between the sites of a platform, for people: by which links their traffic goes, over which other sites, how long
// a round trip is, and what one TCP connection carries there.
//
// One connection carries the least of its mean window per round trip (mean_window in sim/platform/network.h), what a thread
// copies through a socket, and the rates of NICs and links. Several connections, as NCCL's channels open, carry more.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

struct SiteWay {
  std::string from, to;            // sites
  std::vector<std::string> links;  // in their order
  std::vector<std::string> over;   // other sites, in their order
  Seconds rtt;
  // Of one TCP connection, there and back, between those VMs of the sites where it is least; 0: RDMA, no connection.
  BytesPerSecond there, back;
  std::string bound_there, bound_back;  // what bounds it: "window", "loss", "copy rate", or a link's name
};

// Of each pair of sites with VMs, in the platform's order, and of no more than so many.
std::vector<SiteWay> site_ways(const Platform& platform, std::size_t most);

// "gat to amst by wan: RTT 103 ms; one TCP connection carries 20 MB/s (window)".
std::string to_text(const SiteWay& way);

}  // namespace slmsim
