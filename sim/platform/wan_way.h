// The way that traffic takes between two sites over the platform's wide-area links.
//
// A link that joins the two is the way, the one of least delay if there are several. Without one, traffic passes through
// other sites, by the way of least delay (Dijkstra), but only where the platform says so: through a site with
// `transit: yes`, or from one link with `transit: yes` to another. No site carries its neighbours' traffic unasked.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// A link in one of its directions.
struct WanHop {
  int link = 0;  // index into Platform::links
  bool forward = true;

  bool operator==(const WanHop&) const = default;
};

// Of a way in one direction, or of several hops one after the other.
inline const WanDirection& direction_of(const Platform& platform, const WanHop& hop) {
  const WanLink& link = platform.links[static_cast<std::size_t>(hop.link)];
  return hop.forward ? link.forward : link.backward;
}
Seconds delay_of(const Platform& platform, const std::vector<WanHop>& way);

class WanWays {
 public:
  // `everywhere`: as if every site let traffic pass.
  explicit WanWays(const Platform& platform, bool everywhere = false);

  // From one site to another one; empty where there is none.
  const std::vector<WanHop>& between(int from, int to) const;

 private:
  std::vector<std::vector<WanHop>> ways_from(int from) const;

  std::vector<Site> sites_;
  std::vector<WanLink> links_;
  bool everywhere_ = false;
  mutable std::vector<std::vector<std::vector<WanHop>>> ways_;  // a cache: from each site that was asked for
};

// What is wrong with the ways of a platform: one text for each pair of sites with VMs that has none, with what would make
// one.
std::vector<std::string> missing_ways(const Platform& platform);

}  // namespace slmsim
