#include "sim/platform/site_route.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/platform/network.h"

namespace slmsim {
namespace {

struct ConnectionRate {
  BytesPerSecond rate{std::numeric_limits<double>::infinity()};
  std::string bound;

  void bind(BytesPerSecond other, const std::string& by) {
    if (other < rate) rate = other, bound = by;
  }
};

ConnectionRate carried_by_one(const Network& network, const Route& route, const Vm& from, const Vm& to) {
  ConnectionRate out;
  for (const int link : route.links) {
    const Link& l = network.links()[link];
    out.bind(l.bandwidth, l.name);
  }
  const BytesPerSecond copied = std::min(from.type.tcp.copy_rate, to.type.tcp.copy_rate);
  if (route.socket_rate.value > 0)
    out.bind(route.socket_rate, route.socket_rate < copied ? "rate of each connection" : "copy rate");
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
    if (platform.vms[i].site != site || std::ranges::find(known, kinds[i]) != known.end()) continue;
    known.push_back(kinds[i]);
    out.push_back(&platform.vms[i]);
  }
  return out;
}

}  // namespace

std::vector<SiteRoute> site_routes(const Platform& platform, std::size_t most) {
  const Network network(platform);
  const WanRoutes routes(platform);
  const std::vector<int> kinds = vm_kinds(platform);
  const auto name = [&](int site) { return platform.sites[site].name; };
  const int count = static_cast<int>(platform.sites.size());
  std::vector<SiteRoute> out;
  for (int from = 0; from < count; ++from) {
    const auto here = kinds_at(platform, kinds, from);
    for (int to = from + 1; to < count && !here.empty() && out.size() < most; ++to) {
      const auto there = kinds_at(platform, kinds, to);
      if (there.empty()) continue;
      SiteRoute route;
      route.from = name(from), route.to = name(to);
      const auto& hops = routes.between(from, to);
      for (const WanHop& hop : hops) {
        const WanLink& link = platform.links[hop.link];
        route.links.push_back(link.name);
        const BytesPerSecond rate = direction_of(platform, hop).bandwidth;
        const auto limit = [&](BandwidthOf whose, BytesPerSecond& least) {
          if (link.bandwidth_of == whose && (least.value <= 0 || rate < least)) least = rate;
        };
        limit(BandwidthOf::kPath, route.shared);
        limit(BandwidthOf::kPair, route.pair);
        if (&hop != &hops.back()) route.over.push_back(name(hop.forward ? link.to : link.from));
      }
      route.rtt = delay_of(platform, hops) + delay_of(platform, routes.between(to, from));
      ConnectionRate forth, back;
      bool sockets = false;
      for (const Vm* a : here) {
        for (const Vm* b : there) {
          const Route path = network.route(a->first_device, b->first_device);
          sockets = sockets || path.socket_rate.value > 0;
          const ConnectionRate one = carried_by_one(network, path, *a, *b);
          const ConnectionRate other = carried_by_one(network, network.route(b->first_device, a->first_device), *b, *a);
          forth.bind(one.rate, one.bound);
          back.bind(other.rate, other.bound);
        }
      }
      if (sockets) {
        route.there = forth.rate, route.bound_there = forth.bound;
        route.back = back.rate, route.bound_back = back.bound;
      }
      out.push_back(std::move(route));
    }
  }
  return out;
}

std::string to_text(const SiteRoute& r) {
  const std::string over = r.over.empty() ? "" : fmt::format(" over {}", fmt::join(r.over, " and "));
  std::string out =
      fmt::format("{} to {} by {}{}: RTT {}", r.from, r.to, fmt::join(r.links, " and "), over, to_text(r.rtt));
  if (r.shared.value > 0) out += fmt::format("; {} for all traffic", to_text(r.shared));
  if (r.pair.value > 0) out += fmt::format("; {} for each pair of VMs", to_text(r.pair));
  if (r.shared.value <= 0 && r.pair.value <= 0) out += "; a rate for each connection";
  if (r.there.value <= 0) return out;
  out += fmt::format("; one TCP connection carries {} ({})", to_text(r.there), r.bound_there);
  if (to_text(r.back) != to_text(r.there)) out += fmt::format(", back {} ({})", to_text(r.back), r.bound_back);
  return out;
}

}  // namespace slmsim
