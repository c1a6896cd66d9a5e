#include "sim/engine/capacity.h"

#include <algorithm>
#include <cmath>

#include <boost/pending/disjoint_sets.hpp>

namespace slmsim {

std::vector<Capacity> capacities(const TaskGraph& graph) {
  const auto bandwidth = [&](int link) { return graph.links()[static_cast<std::size_t>(link)].bandwidth.value; };
  std::vector<double> demand(graph.links().size(), 0.0);
  std::vector<bool> full(graph.links().size());
  std::vector<Capacity> out;
  for (const auto& connection : graph.connections()) {
    const double socket = connection.route.socket_rate.value > 0 ? connection.route.socket_rate.value : INFINITY;
    double path = INFINITY;
    for (const int link : connection.route.links) path = std::min(path, bandwidth(link));
    out.push_back(
        {.most = std::min(path, socket * connection.sockets), .single = std::min(path, socket), .contended = {}});
    // The first of equally slow links: behind it nothing comes faster than the next one carries.
    const auto first = std::find_if(connection.route.links.begin(), connection.route.links.end(),
                                    [&](int link) { return bandwidth(link) <= out.back().most; });
    if (connection.route.windowed && first != connection.route.links.end()) out.back().bottleneck = *first;
    if (out.back().bottleneck >= 0) full[static_cast<std::size_t>(out.back().bottleneck)] = true;
    for (const int link : connection.route.links) demand[static_cast<std::size_t>(link)] += out.back().most;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const int link : graph.connections()[i].route.links) {
      if (demand[static_cast<std::size_t>(link)] > bandwidth(link) * (1 + 1e-9)) out[i].contended.push_back(link);
    }
    if (out[i].bottleneck < 0) continue;
    for (const int link : graph.connections()[i].route.links) {
      const int back = graph.links()[static_cast<std::size_t>(link)].back;
      if (back >= 0 && full[static_cast<std::size_t>(back)]) out[i].back = back;
    }
  }
  return out;
}

std::size_t most_joined(const std::vector<Capacity>& limits, std::size_t links) {
  std::vector<std::size_t> rank(limits.size() + links), parent(limits.size() + links), joined(limits.size() + links);
  boost::disjoint_sets sets(rank.data(), parent.data());
  for (std::size_t i = 0; i < parent.size(); ++i) sets.make_set(i);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    for (const int link : limits[i].contended) sets.union_set(i, limits.size() + static_cast<std::size_t>(link));
  }
  std::size_t most = 0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!limits[i].contended.empty()) most = std::max(most, ++joined[sets.find_set(i)]);
  }
  return most;
}

}  // namespace slmsim
