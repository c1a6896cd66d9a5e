#include "tests/wan/gloo_graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>

#include "sim/engine/simulate.h"
#include "tests/collective/gloo_rules.h"
#include "tests/wan/route.h"

namespace slmsim::wan {
namespace {

// Links of the graph.
constexpr int kForward = 0, kBackward = 1, kLoopbacks = 2;  // the loopback of host 0, then that of host 1
// B, net.core.wmem_max of the measuring machine, as the table's comments say.
constexpr double kMostSendBuffer = 4194304;

// Before a bound buffer's message Gloo requests a send buffer of its size (Pair::send); the kernel cuts that to
// wmem_max, doubles it for its own use, and tunes the buffer no more (SO_SNDBUF, socket(7)).
Bytes fixed_send_buffer(Bytes message) { return 2 * std::min(message, Bytes{kMostSendBuffer}); }

class World {
 public:
  World(const CollectiveRow& row, const Loopback& loopback)
      : ranks_(row.what.ranks),
        graph_(links(row.what.path, loopback, row.what.collective != "sendrecv"), row.what.ranks),
        label_(graph_.tag({.name = row.what.collective})),
        wide_(route_of(row.what.path, row.path_rtt / 1e3)) {
    near_.latency = loopback.latency;
  }

  TaskGraph& graph() { return graph_; }
  int host(int rank) const { return rank < ranks_ / 2 ? 0 : 1; }
  Seconds latency(int from, int to) const { return host(from) == host(to) ? near_.latency : wide_.latency; }

  // The first message matters where it fixes the send buffer.
  int connection(int from, int to, Bytes send_buffer = Bytes{INFINITY}) {
    const auto [at, added] = connections_.try_emplace({from, to}, 0);
    if (added) {
      Route route = host(from) == host(to) ? near_ : wide_;
      route.links = {host(from) == host(to) ? kLoopbacks + host(from) : host(from) == 0 ? kForward : kBackward};
      route.window.steady = std::min(route.window.steady, send_buffer);
      at->second = graph_.add_connection({from, to, 1, route});
    }
    return at->second;
  }

  // Each returns, per rank, the task after which it ends.
  std::vector<TaskId> run(const std::string& collective, Bytes size, const std::vector<TaskId>& ready) {
    if (collective == "allreduce") return ring(Collective::kAllReduce, -1, gloo_all_reduce(), size, ready);
    if (collective == "allgather") return ring(Collective::kAllGather, 1, gloo_all_gather(), size, ready);
    if (collective == "reducescatter") return halve(size, ready);
    if (collective == "sendrecv") return send(0, ranks_ / 2, size, ready);
    throw std::runtime_error("no such collective: " + collective);
  }

 private:
  static std::vector<Link> links(const Case& path, const Loopback& loopback, bool both_ways) {
    const double share = both_ways ? payload_share_both_ways(path.mtu) : payload_share(path.mtu);
    const BytesPerSecond rate{path.rate * 1e6 / 8 * share};
    return {{.name = "forward", .bandwidth = rate, .back = kBackward},
            {.name = "backward", .bandwidth = rate, .back = kForward},
            {.name = "loopback 0", .bandwidth = loopback.rate},
            {.name = "loopback 1", .bandwidth = loopback.rate}};
  }

  // Gloo's all-reduce sends to the rank before, its all-gather to the one after.
  std::vector<TaskId> ring(Collective collective, int direction, const RingRules& rules, Bytes size,
                           const std::vector<TaskId>& ready) {
    const auto place = [&](int at) { return (direction * at + ranks_) % ranks_; };
    std::vector<RingEdge> edges;
    std::vector<TaskId> in_order;
    for (int at = 0; at < ranks_; ++at) {
      const int from = place(at), to = place((at + 1) % ranks_);
      edges.push_back({connection(from, to), latency(to, from)});
      in_order.push_back(ready[from]);
    }
    // The ring crosses the wide-area path once in each direction: words go back among the data of the other crossing.
    for (std::size_t at = 0; at < edges.size(); ++at) {
      const int from = place(static_cast<int>(at)), to = place((static_cast<int>(at) + 1) % ranks_);
      if (host(from) == host(to)) continue;
      edges[at].behind = edges[(at + edges.size() / 2) % edges.size()].connection;
    }
    const auto ended = Ring(graph_, edges, rules).run(collective, size, label_, in_order);
    std::vector<TaskId> result(ready.size());
    for (int at = 0; at < ranks_; ++at)
      result[place(at)] = ended[at];
    return result;
  }

  std::vector<TaskId> send(int from, int to, Bytes size, std::vector<TaskId> ready) {
    const TaskId word = graph_.delay(latency(to, from), label_, std::array{ready[to]});
    const std::array after = {ready[from], word};
    ready[to] = graph_.transfer(connection(from, to), size, label_, after);
    return ready;
  }

  // ReduceScatterHalvingDoubling of a power of two of ranks: half of what is left goes to the rank that differs in
  // the lowest bit, then the next; so a rank then has the share of the rank with its bits reversed, and sends it there.
  // At the end it waits for the word that all it sent was taken.
  std::vector<TaskId> halve(Bytes size, const std::vector<TaskId>& ready) {
    const auto n = static_cast<unsigned>(ranks_);
    std::vector<TaskId> have = ready;
    std::vector<std::vector<TaskId>> ends(n);
    const auto exchange = [&](auto peer_of, Bytes bytes) {
      std::vector<TaskId> came = have;
      for (unsigned rank = 0; rank < n; ++rank) {
        const unsigned peer = peer_of(rank);
        if (peer == rank) continue;
        const int from = static_cast<int>(rank), to = static_cast<int>(peer);
        came[peer] =
            graph_.transfer(connection(from, to, fixed_send_buffer(bytes)), bytes, label_, std::array{have[rank]});
        // The word leaves when the peer has it and all that it waited for before.
        ends[rank].push_back(graph_.delay(latency(to, from), label_, std::array{came[peer], have[peer]}));
      }
      for (unsigned rank = 0; rank < n; ++rank) {
        have[rank] = graph_.delay({0}, label_, std::array{came[rank], have[rank]});
      }
    };
    Bytes left = size;
    for (unsigned bit = 1; bit < n; bit <<= 1) {
      left = left / 2;
      exchange([bit](unsigned rank) { return rank ^ bit; }, left);
    }
    const int bits = std::countr_zero(n);
    const auto reversed = [bits](unsigned rank) {
      unsigned result = 0;
      for (int bit = 0; bit < bits; ++bit) result |= ((rank >> bit) & 1) << (bits - 1 - bit);
      return result;
    };
    exchange(reversed, left);
    for (unsigned rank = 0; rank < n; ++rank) {
      ends[rank].push_back(have[rank]);
      have[rank] = graph_.delay({0}, label_, ends[rank]);
    }
    return have;
  }

  int ranks_;
  TaskGraph graph_;
  TagId label_;
  Route wide_, near_;
  std::map<std::pair<int, int>, int> connections_;
};

// When the shares of what crossed `link` since `start` had arrived; a flow's bytes arrive evenly.
std::array<double, kShares.size()> dates_of(const TaskGraph& graph, const Timeline& timeline, int link, double start) {
  std::vector<Flow> flows;
  double total = 0;
  for (Flow flow : timeline.flows) {
    const Route& route = graph.connections()[flow.connection].route;
    if (route.links.front() != link || flow.start < start) continue;
    flow.start += route.latency.value - start;
    flow.finish += route.latency.value - start;
    total += flow.bytes;
    flows.push_back(flow);
  }
  const auto arrived = [&](double date) {
    double bytes = 0;
    for (const Flow& flow : flows) {
      const double part = (date - flow.start) / std::max(flow.finish - flow.start, 1e-12);
      bytes += flow.bytes * std::clamp(part, 0.0, 1.0);
    }
    return bytes;
  };
  std::array<double, kShares.size()> dates{};
  for (std::size_t i = 0; i < kShares.size() && !flows.empty(); ++i) {
    double low = 0, high = timeline.end.value - start;
    for (int halving = 0; halving < 40; ++halving) {
      const double middle = (low + high) / 2;
      (arrived(middle) < kShares[i] * total ? low : high) = middle;
    }
    dates[i] = high;
  }
  return dates;
}

}  // namespace

Loopback loopback_of(const std::vector<CollectiveRow>& rows) {
  Loopback loopback;
  std::int64_t largest = 0;
  for (const auto& row : rows) {
    if (row.what.collective != "localsend" || row.state != "warm") continue;
    if (row.what.path.bytes == 4) loopback.latency = Seconds{row.median / 2};
    if (row.what.path.bytes <= std::max<std::int64_t>(4, largest)) continue;
    largest = row.what.path.bytes;
    loopback.rate = BytesPerSecond{static_cast<double>(largest) / row.median};
  }
  if (loopback.latency.value <= 0 || loopback.rate.value <= 0) throw std::runtime_error("no rows of localsend");
  return loopback;
}

Prediction predict(const CollectiveRow& row, const Loopback& loopback) {
  World world(row, loopback);
  const Bytes size{static_cast<double>(row.what.path.bytes)};
  TaskGraph& graph = world.graph();
  const TagId label = graph.tag({.name = "start"});
  const TaskId begin = graph.delay({0}, label, {});
  std::vector<TaskId> ready(static_cast<std::size_t>(row.what.ranks), begin);
  std::vector<TaskId> ended = world.run(row.what.collective, size, ready);
  TaskId started = begin;
  if (row.state == "warm") {
    started = graph.delay(Seconds{row.pause}, label, ended);
    ended = world.run(row.what.collective, size, std::vector<TaskId>(ready.size(), started));
  }
  const Timeline timeline = simulate(graph, {}, {.record_flows = true});
  Prediction prediction;
  const double start = timeline.finish[started];
  std::vector<double> ends;
  for (const TaskId task : ended) ends.push_back(timeline.finish[task] - start);
  prediction.seconds = *std::max_element(ends.begin(), ends.end());
  prediction.first_rank = *std::min_element(ends.begin(), ends.end());
  prediction.forward = dates_of(graph, timeline, kForward, start);
  prediction.backward = dates_of(graph, timeline, kBackward, start);
  return prediction;
}

}  // namespace slmsim::wan
