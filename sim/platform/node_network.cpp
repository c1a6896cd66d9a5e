// The part of Network inside a node.
#include <algorithm>
#include <cassert>
#include <cmath>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/visitors.hpp>
#include <fmt/compile.h>

#include "sim/platform/network.h"

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

// nullptr where parts were added since.
const PartWays::Found* found_ways(const NodeInside& inside) {
  const PartWays::Found* found = inside.ways.found.get();
  return found && found->last.size() == inside.parts.size() ? found : nullptr;
}

}  // namespace

void Network::add_node_links(int vm) {
  const Vm& node = platform_->vms[vm];
  const NodeInside& inside = node.type.inside;
  NodeLinks& links = nodes_[vm];
  links.first = static_cast<int>(links_->size());
  links.gpus = inside.of_kind(PartKind::kGpu);
  links.nics = inside.of_kind(PartKind::kNic);
  const auto part = [&](int index) -> const NodePart& { return inside.parts[index]; };
  const auto add = [&](Link link) {
    links_->push_back(std::move(link));
    return static_cast<int>(links_->size()) - 1;
  };
  for (const PartLink& link : inside.links) {
    const int counted = part(link.from).kind == PartKind::kGpu && part(link.to).kind == PartKind::kGpu ? 2 : 1;
    const BytesPerSecond rate = link.peak * link.efficiency;
    const auto name = [&](int from, int to) {  // a cluster has thousands
      return fmt::format(FMT_COMPILE("{}:{}/{}{}{}"), link.interconnect, node.name, part(from).name,
                         link.half_duplex ? "-" : "->", part(to).name);
    };
    links.forward.push_back(add({name(link.from, link.to), rate, link.interconnect, vm, link.peak, counted}));
    links.backward.push_back(link.half_duplex
                                 ? links.forward.back()
                                 : add({name(link.to, link.from), rate, link.interconnect, vm, link.peak, counted}));
  }
  for (const Crossing& crossing : inside.crossings) {
    const auto name = [&](const std::string& first, const std::string& second) {
      return fmt::format("crossing:{}/{}:{}->{}", node.name, part(crossing.part).name, first, second);
    };
    links.crossing.push_back(add({name(crossing.first, crossing.second), crossing.rate}));
    add({name(crossing.second, crossing.first), crossing.rate});
  }
  for (const PartLink& link : inside.links) {
    const bool shared = !node.type.peer_to_peer && is_uplink(inside, link);
    links.staged.push_back(shared ? static_cast<int>(links_->size()) : -1);
    if (!shared) continue;
    const auto name = [&](int from, int to) {
      return fmt::format("staged:{}/{}->{}", node.name, part(from).name, part(to).name);
    };
    add({name(link.from, link.to), link.peak * node.type.pcie_share});
    add({name(link.to, link.from), link.peak * node.type.pcie_share});
  }
  for (const int drive : inside.of_kind(PartKind::kDrive)) {
    const NodePart& p = part(drive);
    links.medium.push_back(add({fmt::format("drive:{}/{}:medium", node.name, p.name), p.read}));
    add({fmt::format("drive:{}/{}:write", node.name, p.name), p.write});
  }
  for (const int nic : links.nics) {
    const auto name = [&](const char* way) {
      return fmt::format(FMT_COMPILE("{}:{}/{}:{}"), inside.network, node.name, part(nic).name, way);
    };
    links.port.push_back(add({name("out"), node.type.nic, inside.network, vm, node.type.nic}));
    add({name("in"), node.type.nic, inside.network, vm, node.type.nic});
  }
}

Network::Way Network::way_in_type(int type, int from, int to) const {
  const NodeInside& inside = platform_->vms[type].type.inside;
  const NodeLinks& links = nodes_[type];
  Way way{way_inside(inside, from, to), {}, {}};
  int at = from;
  const PartLink* before = nullptr;
  for (const PartHop& hop : way.hops) {
    const auto index = static_cast<std::size_t>(hop.link);
    const PartLink& link = inside.links[index];
    for (std::size_t c = 0; before && c < inside.crossings.size(); ++c) {
      const Crossing& crossing = inside.crossings[c];
      if (crossing.part != at) continue;
      if (crossing.first == before->interconnect && crossing.second == link.interconnect)
        way.links.push_back(links.crossing[c] - links.first);
      else if (crossing.second == before->interconnect && crossing.first == link.interconnect)
        way.links.push_back(links.crossing[c] + 1 - links.first);
    }
    way.links.push_back((hop.forward ? links.forward[index] : links.backward[index]) - links.first);
    way.latencies.push_back(link.latency);
    before = &link;
    at = hop.forward ? link.to : link.from;
  }
  return way;
}

void Network::append(Route& route, int vm, const Way& way) const {
  for (const int link : way.links) route.links.push_back(nodes_[vm].first + link);
  for (const Seconds latency : way.latencies) route.latency += latency;
}

Route Network::route_inside(int vm, int from, int to) const {
  Route route;
  route.links.reserve(8);
  append(route, vm, this->way(vm, from, to));
  return route;
}

// Without peer-to-peer access, transfers without a direct link are staged through the memory nearest to the sender.
Route Network::route_between_gpus(int from, int to) const {
  const int vm = platform_->devices[from].vm;
  const VmType& type = platform_->vms[vm].type;
  const Way& way = this->way(vm, part_of(from), part_of(to));
  const bool staged = !type.peer_to_peer && way.hops.size() > 1;
  const int memory = staged ? nearest(from, PartKind::kMemory) : -1;
  if (memory < 0) return route_inside(vm, part_of(from), part_of(to));
  Route route = route_inside(vm, part_of(from), memory);
  route.staged = true;
  const Route second = route_inside(vm, memory, part_of(to));
  for (const int link : second.links) {  // a half-duplex memory is on both ways
    if (std::ranges::find(route.links, link) == route.links.end()) route.links.push_back(link);
  }
  for (const int kernels : {4 * from + 2, 4 * to + 3}) route.links.push_back(kernels);
  for (const auto* part : {&this->way(vm, part_of(from), memory), &this->way(vm, memory, part_of(to))}) {
    for (const PartHop& hop : part->hops) {
      const int shared = nodes_[vm].staged[hop.link];
      if (shared >= 0) route.links.push_back(shared + (hop.forward ? 0 : 1));
    }
  }
  route.latency += second.latency;
  return route;
}

Route Network::route_by_relay(int from, int to, int relay) const {
  const int vm = platform_->devices[from].vm;
  Route route = route_inside(vm, part_of(from), part_of(relay));
  route.staged = true;
  append(route, vm, this->way(vm, part_of(relay), part_of(to)));
  return route;
}

const Network::Way& Network::way(int vm, int from, int to) const {
  const int type = types_[vm];
  const auto [at, is_new] = ways_inside_.try_emplace({type, from, to});
  if (is_new) at->second = way_in_type(type, from, to);
  return at->second;
}

int Network::nearest_in(int vm, int from, PartKind kind) const {
  const int type = types_[vm];
  const auto [at, is_new] = nearest_.try_emplace({type, from, kind}, -1);
  if (is_new) at->second = nearest_part(platform_->vms[type].type.inside, from, kind);
  return at->second;
}

int Network::part_of(int device) const {
  const int vm = platform_->devices[device].vm;
  return nodes_[vm].gpus[device - platform_->vms[vm].first_device];
}

int Network::nearest(int device, PartKind kind) const {
  const int vm = platform_->devices[device].vm;
  return nearest_in(vm, part_of(device), kind);
}

Route Network::host_route(int device, bool to_memory) const {
  const Device& at = platform_->devices[device];
  if (!platform_->vms[at.vm].type.inside.empty()) {
    const int gpu = part_of(device), memory = nearest(device, PartKind::kMemory);
    return to_memory ? route_inside(at.vm, gpu, memory) : route_inside(at.vm, memory, gpu);
  }
  assert(host_memory_[at.vm] >= 0 && "has_host_memory was asked");
  // As in the files of nodes that describe their inside: a PCIe round trip takes about 1 us, and copies between pinned
  // memory and a GPU reach about 25 GB/s of PCIe 4.0 x16.
  constexpr Seconds kSlotLatency{1e-6};
  constexpr double kCopyShare = 0.78;
  Route route;
  route.links = {4 * device, host_memory_[at.vm]};
  if (!to_memory) route.links = {host_memory_[at.vm], 4 * device + 1};
  route.latency = kSlotLatency;
  const BytesPerSecond measured = to_memory ? at.gpu.buses.from_device : at.gpu.buses.to_device;
  if (measured.value <= 0) route.socket_rate = at.gpu.pcie * kCopyShare;
  return route;
}

Route Network::drive_route(int device, int drive, bool write) const {
  const int vm = platform_->devices[device].vm;
  const int memory = nearest(device, PartKind::kMemory);
  return write ? route_inside(vm, memory, drive) : route_inside(vm, drive, memory);
}

int Network::medium_link(int vm, int drive) const {
  const auto drives = platform_->vms[vm].type.inside.of_kind(PartKind::kDrive);
  const auto at = std::ranges::find(drives, drive) - drives.begin();
  return nodes_[vm].medium[at];
}

// Sets `nic` to the number of the NIC among the node's.
bool Network::append_to_nic(Route& route, int vm, int gpu, int& nic) const {
  const std::vector<int>& nics = nodes_[vm].nics;
  if (nics.empty()) return false;
  const bool named = nic >= 0 && nic < static_cast<int>(nics.size());
  const int part = named ? nics[nic] : nearest(gpu, PartKind::kNic);
  if (part < 0) return false;
  nic = static_cast<int>(std::ranges::find(nics, part) - nics.begin());
  append(route, vm, this->way(vm, part_of(gpu), part));
  route.links.push_back(nodes_[vm].port[nic]);
  return true;
}

// A NIC talks to the one of the same number, as NCCL pairs them; to the nearest where there is none.
bool Network::append_from_nic(Route& route, int vm, int nic, int gpu) const {
  const std::vector<int>& nics = nodes_[vm].nics;
  if (nics.empty()) return false;
  const int part = nic >= 0 && nic < static_cast<int>(nics.size()) ? nics[nic] : nearest(gpu, PartKind::kNic);
  if (part < 0) return false;
  const Way& way = this->way(vm, part, part_of(gpu));
  if (way.hops.empty()) return false;
  const auto number = static_cast<std::size_t>(std::ranges::find(nics, part) - nics.begin());
  route.links.push_back(nodes_[vm].port[number] + 1);
  append(route, vm, way);
  return true;
}

void find_ways(NodeInside& inside) {
  PartWays::Found found;
  for (std::size_t from = 0; from < inside.parts.size(); ++from)
    found.last.push_back(last_hops(inside, static_cast<int>(from)));
  found.by_distance.resize(inside.parts.size());
  inside.ways.found = std::make_shared<const PartWays::Found>(found);
  for (const int nic : inside.of_kind(PartKind::kNic)) found.by_distance[nic] = gpus_by_distance(inside, nic);
  inside.ways.found = std::make_shared<const PartWays::Found>(std::move(found));
}

std::vector<PartHop> way_inside(const NodeInside& inside, int from, int to) {
  const PartWays::Found* known = found_ways(inside);
  const std::vector<LastHop> own = known ? std::vector<LastHop>() : last_hops(inside, from);
  const std::vector<LastHop>& last = known ? known->last[from] : own;
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
  if (const PartWays::Found* known = found_ways(inside); known && !known->by_distance[part].empty())
    return known->by_distance[part];
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
