#include "sim/engine/capacity.h"

#include <algorithm>
#include <cmath>

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
    if (connection.route.windowed && first != connection.route.links.end()) {
      out.back().bottleneck = *first;
      out.back().alike = static_cast<int>(std::count(first, connection.route.links.end(), *first));
    }
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

}  // namespace slmsim
