#include "sim/platform/wan_route.h"

#include <algorithm>
#include <queue>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/platform/network.h"

namespace slmsim {
namespace {

constexpr std::size_t kToldInFull = 20;

int end_of(const WanLink& link, const WanHop& hop) { return hop.forward ? link.to : link.from; }
int begin_of(const WanLink& link, const WanHop& hop) { return hop.forward ? link.from : link.to; }

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

Seconds delay_of(const Platform& platform, const std::vector<WanHop>& route) {
  Seconds delay{0};
  for (const WanHop& hop : route) delay += direction_of(platform, hop).delay;
  return delay;
}

WanRoutes::WanRoutes(const Platform& platform, bool everywhere)
    : sites_(platform.sites), links_(platform.links), everywhere_(everywhere), routes_(platform.sites.size()) {}

const std::vector<WanHop>& WanRoutes::between(int from, int to) const {
  auto& routes = routes_[from];
  if (routes.empty()) routes = routes_from(from);
  return routes[to];
}

// Dijkstra's algorithm over hops, since transit from one hop to the next depends on both. From a site, traffic
// continues either to all hops or to those with transit, so that each site is opened at most twice.
std::vector<std::vector<WanHop>> WanRoutes::routes_from(int from) const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t count = 2 * links_.size();
  const auto hop_of = [](std::size_t i) { return WanHop{static_cast<int>(i / 2), i % 2 == 0}; };
  std::vector<std::vector<std::size_t>> leaving(sites_.size());
  for (std::size_t i = 0; i < count; ++i) leaving[begin_of(links_[i / 2], hop_of(i))].push_back(i);
  std::vector<double> delay(count, kNever);
  std::vector<int> before(count, -1);  // the preceding hop
  using Reached = std::pair<double, std::size_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
  const auto reach = [&](std::size_t hop, double start, int previous) {
    const WanLink& link = links_[hop / 2];
    const double end = start + (hop % 2 == 0 ? link.forward : link.backward).delay.value;
    if (end >= delay[hop]) return;
    delay[hop] = end;
    before[hop] = previous;
    next.emplace(end, hop);
  };
  std::vector<bool> direct(sites_.size());
  for (const std::size_t hop : leaving[from]) {
    direct[end_of(links_[hop / 2], hop_of(hop))] = true;
    reach(hop, 0, -1);
  }
  std::vector<std::vector<WanHop>> routes(sites_.size());
  std::vector<bool> opened(sites_.size()), opened_to_transit(sites_.size());
  while (!next.empty()) {
    const auto [reached, hop] = next.top();
    next.pop();
    if (reached > delay[hop]) continue;
    const auto site = static_cast<std::size_t>(end_of(links_[hop / 2], hop_of(hop)));
    if (static_cast<int>(site) == from) continue;
    if (routes[site].empty() && (!direct[site] || before[hop] < 0)) {
      for (int i = static_cast<int>(hop); i >= 0; i = before[i])
        routes[site].push_back(hop_of(static_cast<std::size_t>(i)));
      std::ranges::reverse(routes[site]);
    }
    const bool all = everywhere_ || sites_[site].transit;
    if (opened[site] || (!all && (!links_[hop / 2].transit || opened_to_transit[site]))) continue;
    (all ? opened : opened_to_transit)[site] = true;
    for (const std::size_t out : leaving[site]) {
      if (all || links_[out / 2].transit) reach(out, reached, static_cast<int>(hop));
    }
  }
  return routes;
}

std::vector<std::string> missing_routes(const Platform& platform) {
  const WanRoutes stated(platform), through(platform, true);
  const auto name = [&](int site) { return platform.sites[site].name; };
  const auto vm_at = [&](int site) {
    return std::ranges::find_if(platform.vms, [&](const Vm& vm) { return vm.site == site; })->name;
  };
  std::set<int> used;
  for (const Vm& vm : platform.vms) used.insert(vm.site);
  std::vector<std::string> out;
  std::size_t more = 0;
  for (auto from = used.begin(); from != used.end(); ++from) {
    for (auto to = std::next(from); to != used.end(); ++to) {
      if (!stated.between(*from, *to).empty()) continue;
      if (out.size() == kToldInFull) {
        ++more;
        continue;
      }
      std::vector<std::string> between;
      for (const WanHop& hop : through.between(*from, *to)) {
        const int at = end_of(platform.links[hop.link], hop);
        if (at != *to && !platform.sites[at].transit) between.push_back("site " + name(at));
      }
      out.push_back(fmt::format("no link leads from {} (site {}) to {} (site {}); add one under links{}", vm_at(*from),
                                name(*from), vm_at(*to), name(*to),
                                between.empty()
                                    ? ""
                                    : fmt::format(", or transit: yes on {}, which {} between",
                                                  fmt::join(between, " and "), between.size() == 1 ? "lies" : "lie")));
    }
  }
  if (more > 0) out.push_back(fmt::format("and no link between {} more pairs of sites", more));
  return out;
}

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

std::string way_text(const SiteRoute& r) {
  const std::string over = r.over.empty() ? "" : fmt::format(" over {}", fmt::join(r.over, " and "));
  return fmt::format("{} to {} by {}{}", r.from, r.to, fmt::join(r.links, " and "), over);
}

std::string carried_text(const SiteRoute& r) {
  std::string out = "RTT " + to_text(r.rtt);
  if (r.shared.value > 0) out += fmt::format("; {} for all traffic", to_text(r.shared));
  if (r.pair.value > 0) out += fmt::format("; {} for each pair of VMs", to_text(r.pair));
  if (r.shared.value <= 0 && r.pair.value <= 0) out += "; a rate for each connection";
  if (r.there.value <= 0) return out;
  out += fmt::format("; one TCP connection carries {} ({})", to_text(r.there), r.bound_there);
  if (to_text(r.back) != to_text(r.there)) out += fmt::format(", back {} ({})", to_text(r.back), r.bound_back);
  return out;
}

}  // namespace slmsim
