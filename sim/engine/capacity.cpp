#include "sim/engine/capacity.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

constexpr double kRounding = 1e-9;  // of a bandwidth: rounding error of a sum of rates

std::size_t place(int link) { return static_cast<std::size_t>(link); }

double socket_rate(const Connection& connection) {
  return connection.route.socket_rate.value > 0 ? connection.route.socket_rate.value : INFINITY;
}

// Links on which a connection's bytes may queue: all links of its path. `demand`: per link, the sum of all connections'
// maximum rates.
std::vector<QueuedLink> links_of(const Connection& connection, double most, const std::vector<Link>& links,
                                 const std::vector<double>& demand) {
  std::vector<QueuedLink> out;
  double rate = socket_rate(connection) * connection.sockets;
  for (const int link : connection.route.links) {
    const auto known = std::find_if(out.begin(), out.end(), [&](const auto& queued) { return queued.link == link; });
    if (known != out.end()) {
      ++known->alike;
      continue;
    }
    out.push_back({link, 1, rate});
    rate = std::min(rate, links[place(link)].bandwidth.value * most / demand[place(link)]);
  }
  return out;
}

// Finds the links with queues, and the acknowledgements that wait in them.
void find_queues(const TaskGraph& graph, const std::vector<double>& demand, std::vector<Capacity>& out) {
  const auto& links = graph.links();
  const auto is_tcp = [&](std::size_t i) { return graph.connections()[i].route.window.steady.value > 0; };
  std::vector<double> comes(links.size(), 0.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!is_tcp(i)) continue;
    out[i].queued = links_of(graph.connections()[i], out[i].most, links, demand);
    for (const auto& queued : out[i].queued) comes[place(queued.link)] += queued.rate * queued.alike;
  }
  std::vector<bool> waited_at(links.size());
  for (Capacity& capacity : out) {
    for (const auto& queued : capacity.queued) {
      const int back = graph.link_back(queued.link);
      if (back < 0 || comes[place(back)] <= links[place(back)].bandwidth.value * (1 + kRounding)) continue;
      waited_at[place(back)] = true;
      capacity.back.push_back(back);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::erase_if(out[i].queued, [&](const auto& queued) { return !waited_at[place(queued.link)]; });
    out[i].windowed = graph.connections()[i].route.windowed || !out[i].queued.empty() || !out[i].back.empty();
  }
}

}  // namespace

std::vector<Capacity> capacities(const TaskGraph& graph) {
  const auto bandwidth = [&](int link) { return graph.links()[place(link)].bandwidth.value; };
  std::vector<double> demand(graph.links().size(), 0.0);
  std::vector<Capacity> out;
  for (const auto& connection : graph.connections()) {
    Capacity capacity;
    capacity.most = most_rate(connection, graph.links()).value;
    capacity.single = std::min(capacity.most, socket_rate(connection));
    for (const int link : connection.route.links) demand[place(link)] += capacity.most;
    out.push_back(std::move(capacity));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const int link : graph.connections()[i].route.links) {
      if (demand[place(link)] > bandwidth(link) * (1 + kRounding)) out[i].contended.push_back(link);
    }
  }
  find_queues(graph, demand, out);
  return out;
}

bool has_windows(const std::vector<Capacity>& limits) {
  return std::any_of(limits.begin(), limits.end(), [](const Capacity& limit) { return limit.windowed; });
}

}  // namespace slmsim
