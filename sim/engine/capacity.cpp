#include "sim/engine/capacity.h"

#include <algorithm>
#include <cmath>

namespace slmsim {

std::vector<Capacity> capacities(const TaskGraph& graph) {
  const auto bandwidth = [&](int link) { return graph.links()[static_cast<std::size_t>(link)].bandwidth.value; };
  std::vector<double> demand(graph.links().size(), 0.0);
  std::vector<Capacity> out;
  for (const auto& connection : graph.connections()) {
    const double socket = connection.route.socket_rate.value > 0 ? connection.route.socket_rate.value : INFINITY;
    double path = INFINITY;
    for (const int link : connection.route.links) path = std::min(path, bandwidth(link));
    out.push_back({std::min(path, socket * connection.sockets), std::min(path, socket), {}});
    for (const int link : connection.route.links) demand[static_cast<std::size_t>(link)] += out.back().most;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const int link : graph.connections()[i].route.links) {
      if (demand[static_cast<std::size_t>(link)] > bandwidth(link) * (1 + 1e-9)) out[i].contended.push_back(link);
    }
  }
  return out;
}

}  // namespace slmsim
