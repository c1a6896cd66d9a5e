#include "sim/platform/site_way.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/platform/network.h"

namespace slmsim {
namespace {

struct Carried {
  BytesPerSecond rate{std::numeric_limits<double>::infinity()};
  std::string bound;

  void bind(BytesPerSecond other, const std::string& by) {
    if (other < rate) rate = other, bound = by;
  }
};

Carried carried_by_one(const Network& network, const Route& route) {
  Carried out;
  for (const int link : route.links) {
    const Link& l = network.links()[link];
    out.bind(l.bandwidth, l.name);
  }
  if (route.socket_rate.value > 0) out.bind(route.socket_rate, "copy rate");
  const TcpWindow& window = route.window;
  if (!route.windowed || window.rtt <= Seconds{0}) return out;
  const Bytes mean = mean_window(window);
  out.bind(mean / window.rtt, mean < window.steady ? "loss" : "window");
  return out;
}

// One VM of each kind at a site.
std::vector<const Vm*> kinds_at(const Platform& platform, const std::vector<int>& kinds, int site) {
  std::vector<const Vm*> out;
  std::vector<int> known;
  for (std::size_t i = 0; i < platform.vms.size(); ++i) {
    if (platform.vms[i].site != site || std::find(known.begin(), known.end(), kinds[i]) != known.end()) continue;
    known.push_back(kinds[i]);
    out.push_back(&platform.vms[i]);
  }
  return out;
}

}  // namespace

std::vector<SiteWay> site_ways(const Platform& platform, std::size_t most) {
  const Network network(platform);
  const WanWays ways(platform);
  const std::vector<int> kinds = vm_kinds(platform);
  const auto name = [&](int site) { return platform.sites[site].name; };
  const int count = static_cast<int>(platform.sites.size());
  std::vector<SiteWay> out;
  for (int from = 0; from < count; ++from) {
    const auto here = kinds_at(platform, kinds, from);
    for (int to = from + 1; to < count && !here.empty() && out.size() < most; ++to) {
      const auto there = kinds_at(platform, kinds, to);
      if (there.empty()) continue;
      SiteWay way{name(from), name(to), {}, {}, {}, {}, {}, "", ""};
      const auto& hops = ways.between(from, to);
      for (const WanHop& hop : hops) {
        const WanLink& link = platform.links[hop.link];
        way.links.push_back(link.name);
        if (&hop != &hops.back()) way.over.push_back(name(hop.forward ? link.to : link.from));
      }
      way.rtt = delay_of(platform, hops) + delay_of(platform, ways.between(to, from));
      Carried forth, back;
      bool sockets = false;
      for (const Vm* a : here) {
        for (const Vm* b : there) {
          const Route route = network.route(a->first_device, b->first_device);
          sockets = sockets || route.socket_rate.value > 0;
          const Carried one = carried_by_one(network, route);
          const Carried other = carried_by_one(network, network.route(b->first_device, a->first_device));
          forth.bind(one.rate, one.bound);
          back.bind(other.rate, other.bound);
        }
      }
      if (sockets) {
        way.there = forth.rate, way.bound_there = forth.bound;
        way.back = back.rate, way.bound_back = back.bound;
      }
      out.push_back(std::move(way));
    }
  }
  return out;
}

std::string to_text(const SiteWay& way) {
  const std::string over = way.over.empty() ? "" : fmt::format(" over {}", fmt::join(way.over, " and "));
  std::string out =
      fmt::format("{} to {} by {}{}: RTT {}", way.from, way.to, fmt::join(way.links, " and "), over, to_text(way.rtt));
  if (way.there.value <= 0) return out;
  out += fmt::format("; one TCP connection carries {} ({})", to_text(way.there), way.bound_there);
  if (to_text(way.back) != to_text(way.there)) out += fmt::format(", back {} ({})", to_text(way.back), way.bound_back);
  return out;
}

}  // namespace slmsim
