// The route between two sites over the platform's wide-area links.
//
// A direct link is the route, the one of least delay if there are several. Without one, traffic passes through other
// sites, by the route of least delay (Dijkstra), but only where the platform allows it: through a site with `transit:
// yes`, or from one link with `transit: yes` to another.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// A link in one direction.
struct WanHop {
  int link = 0;  // index into Platform::links
  bool forward = true;

  bool operator==(const WanHop&) const = default;
};

// Properties of a hop in its direction, and the total delay of consecutive hops.
inline const WanDirection& direction_of(const Platform& platform, const WanHop& hop) {
  const WanLink& link = platform.links[hop.link];
  return hop.forward ? link.forward : link.backward;
}
Seconds delay_of(const Platform& platform, const std::vector<WanHop>& route);

class WanRoutes {
 public:
  // `everywhere`: as if every site allowed transit.
  explicit WanRoutes(const Platform& platform, bool everywhere = false);

  // From one site to another; empty where there is no route.
  const std::vector<WanHop>& between(int from, int to) const;

 private:
  std::vector<std::vector<WanHop>> routes_from(int from) const;

  std::vector<Site> sites_;
  std::vector<WanLink> links_;
  bool everywhere_ = false;
  mutable std::vector<std::vector<std::vector<WanHop>>> routes_;  // a cache, by the starting site
};

// Missing routes of a platform: one text for each pair of sites with VMs that has none, with a remedy.
std::vector<std::string> missing_routes(const Platform& platform);

// The route between sites, for people: its links, transit sites, round-trip time, and the rate of one TCP connection.
//
// One connection carries the minimum of its mean window per round trip (mean_window in sim/platform/network.h), a
// thread's copy rate through a socket, and the rates of NICs and links. Several connections, as NCCL's channels open,
// carry more.

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

// "gat to amst by wan", and what it carries: "RTT 103 ms; 1 GB/s for all; one TCP connection carries 20 MB/s (window)".
std::string way_text(const SiteRoute& route);
std::string carried_text(const SiteRoute& route);

}  // namespace slmsim
