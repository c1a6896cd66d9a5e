#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/visitors.hpp>

#include "sim/platform/node.h"

namespace slmsim {
namespace {

constexpr Bytes kMessage{kMebi};  // ways are compared by its store-and-forward time

Seconds length_of(const PartLink& link) { return link.latency + kMessage / (link.peak * link.efficiency); }

std::vector<LastHop> last_hops(const NodeInside& inside, int from) {
  struct Edge {
    PartHop hop;
    double weight = 0;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Edge>;
  Graph graph(inside.parts.size());
  const auto add = [&](int a, int b, PartHop hop, Seconds length) {
    const bool passes = a == from || inside.parts[a].kind == PartKind::kSwitch;
    if (passes)
      boost::add_edge(static_cast<std::size_t>(a), static_cast<std::size_t>(b), Edge{hop, length.value}, graph);
  };
  for (std::size_t i = 0; i < inside.links.size(); ++i) {
    const PartLink& link = inside.links[i];
    add(link.from, link.to, {static_cast<int>(i), true}, length_of(link));
    add(link.to, link.from, {static_cast<int>(i), false}, length_of(link));
  }
  std::vector<Graph::edge_descriptor> last(inside.parts.size());
  boost::dijkstra_shortest_paths(graph, static_cast<std::size_t>(from),
                                 boost::weight_map(boost::get(&Edge::weight, graph))
                                     .visitor(boost::make_dijkstra_visitor(
                                         boost::record_edge_predecessors(last.data(), boost::on_edge_relaxed()))));
  std::vector<LastHop> out;
  for (const auto& edge : last) {
    if (edge == Graph::edge_descriptor()) {
      out.emplace_back();
    } else {
      const PartHop& hop = graph[edge].hop;
      out.push_back({hop.link, static_cast<int>(boost::source(edge, graph)), hop.forward});
    }
  }
  return out;
}

}  // namespace

void find_ways(NodeInside& inside) {
  std::vector<std::vector<LastHop>> all;
  for (std::size_t from = 0; from < inside.parts.size(); ++from)
    all.push_back(last_hops(inside, static_cast<int>(from)));
  inside.ways.last = std::make_shared<const std::vector<std::vector<LastHop>>>(std::move(all));
}

std::vector<PartHop> way_inside(const NodeInside& inside, int from, int to) {
  const auto& known = inside.ways.last;
  std::vector<LastHop> own;
  if (!known || known->size() != inside.parts.size()) own = last_hops(inside, from);
  const std::vector<LastHop>& last = own.empty() ? (*known)[from] : own;
  std::vector<PartHop> way;
  for (int at = to; at != from; at = last[at].before) {
    if (last[at].link < 0) return {};
    way.push_back({last[at].link, last[at].forward});
  }
  std::ranges::reverse(way);
  return way;
}

Seconds way_length(const NodeInside& inside, int from, int to) {
  const auto way = way_inside(inside, from, to);
  Seconds length{way.empty() ? INFINITY : 0};
  for (const PartHop& hop : way) length += length_of(inside.links[hop.link]);
  return length;
}

std::vector<int> gpus_by_distance(const NodeInside& inside, int part) {
  std::vector<std::pair<double, int>> found;
  for (const int gpu : inside.of_kind(PartKind::kGpu))
    found.emplace_back(way_length(inside, gpu, part).value, static_cast<int>(found.size()));
  std::ranges::sort(found);
  std::vector<int> out;
  out.reserve(found.size());
  for (const auto& [length, gpu] : found) out.push_back(gpu);
  return out;
}

int nearest_part(const NodeInside& inside, int from, PartKind kind) {
  int best = -1;
  double least = 0;
  for (const int part : inside.of_kind(kind)) {
    const double length = way_length(inside, from, part).value;
    if (!std::isfinite(length) || (best >= 0 && length >= least)) continue;
    best = part;
    least = length;
  }
  return best;
}

}  // namespace slmsim
