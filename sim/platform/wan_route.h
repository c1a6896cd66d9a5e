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

}  // namespace slmsim
