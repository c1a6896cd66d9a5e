#include "sim/collective/collective_time.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "sim/collective/communicator.h"
#include "sim/collective/ring.h"
#include "sim/engine/tcp_sender.h"

namespace slmsim {
namespace {

// Loops are followed up to this number of transfers; the mean of their later half stands for all further ones.
constexpr std::int64_t kTransfersFollowed = 20000;
constexpr std::int64_t kLeastLoopsFollowed = 4;
// With more ranks, the mean edge stands for all: following every hop would take ranks^2 steps.
constexpr std::size_t kMostRanksFollowed = 64;

constexpr BytesPerSecond kAtOnce{std::numeric_limits<double>::infinity()};

// The sender's side of an edge while a ring is followed: bytes in flight until their acknowledgement, a round trip
// after they began to leave.
class Sender {
 public:
  Sender(BytesPerSecond rate, Bytes window, Seconds rtt) : rate_(rate), window_(window), rtt_(rtt) {}

  // Time at which the last byte of a piece has left that is available at `ready`.
  Seconds send(Seconds ready, Bytes piece) {
    Seconds now = std::max(ready, free_);
    if (!std::isfinite(window_.value)) return free_ = now + piece / rate_;
    for (Bytes left = piece; left > Bytes{0};) {
      while (!way_.empty() && way_.front().back <= now) arrive();
      const Bytes room = window_ - on_the_way_;
      if (room < std::min(left, window_ * kLeastShareOfWindow)) {
        now = way_.front().back;
        continue;
      }
      const Bytes part = std::min(left, room);
      way_.push_back({std::max(now + rtt_, now + part / rate_), part});
      on_the_way_ += part;
      now += part / rate_;
      left -= part;
    }
    return free_ = now;
  }

 private:
  struct Part {
    Seconds back;
    Bytes size;
  };
  void arrive() {
    on_the_way_ -= way_.front().size;
    way_.pop_front();
  }

  BytesPerSecond rate_;
  Bytes window_;
  Seconds rtt_, free_{0};
  std::deque<Part> way_;
  Bytes on_the_way_{0};
};

}  // namespace

CollectiveTimes::CollectiveTimes(const Network& network, const NcclSetup& nccl, std::vector<int> mesh, MeshShape shape)
    : network_(network), nccl_(nccl), mesh_(std::move(mesh)), shape_(shape) {}

std::vector<std::vector<int>> CollectiveTimes::groups(Axes axes) const {
  std::vector<std::vector<int>> out;
  for (const auto& ranks : groups_along(axes, shape_)) {
    out.emplace_back();
    for (const std::size_t rank : ranks) out.back().push_back(mesh_[rank]);
  }
  return out;
}

CollectiveTimes::Edge CollectiveTimes::edge(const Route& route, double sockets, const std::map<int, int>& uses) const {
  Edge edge{route.latency, kAtOnce, Bytes{std::numeric_limits<double>::infinity()}, route.window.rtt, kAtOnce};
  for (const int link : route.links) {
    edge.rate = std::min(edge.rate, network_.links()[link].bandwidth / uses.at(link));
  }
  if (route.socket_rate.value > 0) edge.rate = std::min(edge.rate, route.socket_rate * sockets);
  if (route.windowed) edge.window = mean_window(route.window) * sockets;
  return edge;
}

CollectiveTimes::Rings CollectiveTimes::rings(Axes axes) const {
  const auto all = groups(axes);
  Rings rings{{}, nccl_view(nccl_.platform, all.front())};
  const int channels = nccl_channels(nccl_.settings, rings.view);
  const auto copies = last_copies(network_, all, channels);
  std::vector<std::vector<Route>> routes;
  std::map<int, int> uses;
  for (const auto& group : all) {
    routes.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i) {
      routes.back().push_back(network_.route(group[i], group[(i + 1) % group.size()]));
      for (const int link : routes.back().back().links) ++uses[link];
    }
  }
  for (std::size_t g = 0; g < all.size(); ++g) {
    rings.edges.emplace_back();
    for (std::size_t i = 0; i < all[g].size(); ++i) {
      const int to = all[g][(i + 1) % all[g].size()];
      const Platform& platform = nccl_.platform;
      const Vm& vm = platform.vms[platform.devices[to].vm];
      rings.edges.back().push_back(edge(routes[g][i], channels * nccl_sockets(nccl_.settings, vm.type.cloud), uses));
      // Each rail carries its part.
      if (!network_.share_vm(all[g][i], to))
        rings.edges.back().back().rate = rings.edges.back().back().rate * rings.view.search_channels;
      if (!copies.empty()) rings.edges.back().back().last_copy = copies[g][(i + 1) % all[g].size()];
    }
  }
  return rings;
}

Seconds CollectiveTimes::of(const CollectiveCall& call) const {
  const Axes axes = within(call.axes, shape_);
  if (axes == 0 || call.size <= Bytes{0}) return {};
  const auto [at, is_new] =
      known_.try_emplace({call.all_to_all, static_cast<int>(call.collective), axes, call.size.value});
  if (!is_new) return at->second;
  if (call.all_to_all) return at->second = all_to_all(call.size, axes);
  auto found = rings_.find(axes);
  if (found == rings_.end()) found = rings_.emplace(axes, rings(axes)).first;
  const auto& [edges, view] = found->second;
  NcclChoice choice = nccl_choice(nccl_.settings, view, call.collective, call.size);
  choice.algorithm = NcclAlgorithm::kRing;
  const RingRules rules{.channels = nccl_channels(nccl_.settings, view),
                        .chunk = nccl_chunk(nccl_.settings, view, choice, call.size),
                        .slices = nccl_slices(view, choice.protocol)};
  const Bytes size = call.size * nccl_wire_factor(choice.protocol);
  for (auto one : edges) {
    for (Edge& edge : one) {
      if (choice.protocol != NcclProtocol::kSimple) edge.last_copy = kAtOnce;
    }
    at->second = std::max(at->second, ring(one, call.collective, size, rules));
  }
  return at->second;
}

Seconds CollectiveTimes::ring(const std::vector<Edge>& edges, Collective collective, Bytes size,
                              const RingRules& rules) const {
  const std::size_t n = edges.size();
  const int steps = step_count(collective, static_cast<int>(n));
  const auto loops = static_cast<std::int64_t>(loop_count(static_cast<int>(n), size, rules));
  const Bytes loop_size = rules.chunk * (static_cast<double>(rules.channels) * static_cast<double>(n));
  if (n > kMostRanksFollowed) {
    Seconds waits{0}, around{0}, slowest{0};
    for (const Edge& edge : edges) {
      const Bytes piece = std::min(size, loop_size) / static_cast<double>(n);
      const double windows = std::isfinite(edge.window.value) ? piece / edge.window : 0.0;
      const Seconds sending = std::max(piece / edge.rate, edge.rtt * windows);
      slowest = std::max(slowest, sending);
      around += edge.latency;
      waits += std::max(Seconds{0}, edge.latency - sending * (1 - 1.0 / rules.slices));
    }
    const double hops = static_cast<double>(loops) * steps;
    return waits * ((hops - static_cast<double>(loops)) / static_cast<double>(n)) +
           around * (static_cast<double>(loops) / static_cast<double>(n)) +
           slowest * (hops * (size / loop_size) / static_cast<double>(loops));
  }
  std::vector<Sender> senders;
  senders.reserve(edges.size());
  for (const Edge& edge : edges) senders.emplace_back(edge.rate, edge.window, edge.rtt);
  // Times at which each rank has the slices that it sends next.
  const auto slices = static_cast<std::size_t>(rules.slices);
  std::vector<std::vector<Seconds>> received(slices, std::vector<Seconds>(n));
  std::vector<Seconds> next(n);
  const auto end = [&] { return *std::max_element(received.back().begin(), received.back().end()); };
  const auto run_loop = [&](Bytes piece) {
    for (auto& slice : received) slice = received.back();
    for (int step = 0; step < steps; ++step) {
      for (auto& slice : received) {
        for (std::size_t rank = 0; rank < n; ++rank)
          next[(rank + 1) % n] =
              senders[rank].send(slice[rank], piece / static_cast<double>(slices)) + edges[rank].latency;
        slice = next;
      }
    }
    for (std::size_t rank = 0; rank < n; ++rank) received.back()[(rank + 1) % n] += piece / edges[rank].last_copy;
  };
  const std::int64_t full = loops - 1;
  const std::int64_t followed =
      std::min(full, std::max(kLeastLoopsFollowed, kTransfersFollowed / (steps * static_cast<std::int64_t>(n))));
  const std::int64_t middle = followed / 2;
  Seconds half{0};
  for (std::int64_t loop = 0; loop < followed; ++loop) {
    if (loop == middle) half = end();
    run_loop(loop_size / static_cast<double>(n));
  }
  Seconds further{0};
  if (full > followed)
    further = (end() - half) * (static_cast<double>(full - followed) / static_cast<double>(followed - middle));
  run_loop((size - loop_size * static_cast<double>(loops - 1)) / static_cast<double>(n));
  return end() + further;
}

namespace {

// Arrival of the last of these transfers, all begun at once: each takes at least the time of its connection and of its
// busiest link.
struct LoneFlow {
  Route route;
  Bytes size;
  int sockets = 1;
};

// Round trips of a transfer that follows a pause: those in which windows grow again, and those of full windows.
struct RoundTrips {
  double growing = 0, full = 0;
};
RoundTrips round_trips(const TcpWindow& way, double size, int sockets, double pause) {
  const double full = mean_window(way).value * sockets, slow_start = kThresholdAfterIdle * full;
  double window = full;
  if (way.timeout_margin > Seconds{0})
    window = window_after(pause, (way.rtt + way.timeout_margin).value, full, way.restart.value * sockets);
  RoundTrips out;
  for (; window < slow_start && size > window; window *= 2, ++out.growing) size -= window;
  out.full = size / std::clamp(window, slow_start, full);
  return out;
}

TransferTime together(const Network& network, const std::vector<LoneFlow>& flows, Seconds period = {}) {
  std::map<int, double> load;
  for (const auto& flow : flows) {
    for (const int link : flow.route.links) load[link] += flow.size.value;
  }
  TransferTime out{};
  for (const auto& [route, size, sockets] : flows) {
    Seconds sent{0};
    for (const int link : route.links) sent = std::max(sent, Bytes{load[link]} / network.links()[link].bandwidth);
    if (route.socket_rate.value > 0) sent = std::max(sent, size / (route.socket_rate * sockets));
    Seconds each = sent;
    if (route.windowed) {
      const Seconds rtt = route.window.rtt;
      const double busy = std::max(each.value, rtt.value * size.value / (mean_window(route.window).value * sockets));
      const RoundTrips trips = round_trips(route.window, size.value, sockets, period.value - busy);
      sent = std::max(sent, rtt * (trips.growing + std::ceil(trips.full) - 1));
      each = std::max(each, rtt * (trips.growing + trips.full));
    }
    out = {std::max(out.whole, sent + route.latency), std::max(out.each, each)};
  }
  return out;
}

}  // namespace

Seconds CollectiveTimes::all_to_all(Bytes size, Axes axes) const {
  std::vector<LoneFlow> flows;
  const int ranks = span(axes, shape_);
  // Too many pairs: all of a rank's bytes are counted on its edge of the ring.
  if (ranks > static_cast<int>(kMostRanksFollowed)) {
    Seconds longest{0};
    for (const auto& edges : rings(axes).edges) {
      for (const Edge& edge : edges)
        longest = std::max(longest, edge.latency + size / static_cast<double>(ranks) / edge.rate);
    }
    return longest;
  }
  for (const auto& group : groups(axes)) {
    const Bytes piece = size / static_cast<double>(group.size() * group.size());
    for (const int from : group) {
      for (const int to : group) {
        if (from != to) flows.push_back({network_.route(from, to), piece, sockets_between(nccl_, from, to)});
      }
    }
  }
  return together(network_, flows).whole;
}

TransferTime transfer_time(const Network& network, const NcclSetup& nccl, const std::vector<int>& from,
                           const std::vector<int>& to, Bytes size, Seconds period) {
  const std::size_t pairs = std::max(from.size(), to.size());
  std::vector<LoneFlow> flows;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const int a = from[pair * from.size() / pairs], b = to[pair * to.size() / pairs];
    flows.push_back({network.route(a, b), size / static_cast<double>(pairs), sockets_between(nccl, a, b)});
  }
  return together(network, flows, period);
}

}  // namespace slmsim
