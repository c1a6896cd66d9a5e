#include "sim/collective/tree.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>

namespace slmsim {
namespace {

struct Parent {
  int node = -1;
  bool is_first_child = false;
};

// In-order numbering: a node's height is the number of trailing zeros of its number; 0 is the root.
Parent parent_in_first_tree(int node, int count) {
  if (node == 0) return {};
  const int height = node & -node;
  const int above = (node - height) | (2 * height);
  const int parent = above < count ? above : node - height;
  return {parent, node < parent};
}

// The second tree is the first one with other numbers of the nodes.
Parent parent_of(int node, int count, int which) {
  if (which == 0) return parent_in_first_tree(node, count);
  const bool mirrored = count % 2 == 0;
  const int as_first = mirrored ? count - 1 - node : (node + count - 1) % count;
  Parent parent = parent_in_first_tree(as_first, count);
  if (parent.node >= 0) parent.node = mirrored ? count - 1 - parent.node : (parent.node + 1) % count;
  return parent;
}

double loops(Bytes size, Bytes chunk, int channels) { return std::max(1.0, std::ceil(size / (chunk * channels))); }

}  // namespace

std::vector<int> tree_parents(std::span<const int> nodes, int which) {
  std::vector<std::vector<int>> chains;  // ranks of each node, in the order in which nodes appear
  std::map<int, std::size_t> chain_of;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto at = chain_of.try_emplace(nodes[rank], chains.size()).first->second;
    if (at == chains.size()) chains.emplace_back();
    chains[at].push_back(static_cast<int>(rank));
  }
  std::vector<int> parents(nodes.size(), -1);
  const int count = static_cast<int>(chains.size());
  for (int node = 0; node < count; ++node) {
    const auto& chain = chains[node];
    for (std::size_t i = 1; i < chain.size(); ++i) parents[chain[i]] = chain[i - 1];
    const Parent parent = parent_of(node, count, which);
    if (parent.node < 0) continue;
    const auto& above = chains[parent.node];
    parents[chain[0]] = above[parent.is_first_child && above.size() > 1 ? 1 : 0];
  }
  return parents;
}

double tree_transfer_count(int ranks, Bytes size, Bytes chunk, int channels) {
  return 2.0 * (ranks - 1) * std::min(channels, 2) * loops(size, chunk, channels);
}

Tree::Tree(TaskGraph& graph, const Network& network, std::vector<int> devices, std::span<const int> nodes,
           TreeRules rules)
    : graph_(graph), rules_(std::move(rules)), ranks_(devices.size()) {
  assert(nodes.size() == devices.size());
  if (rules_.sockets.empty()) rules_.sockets.assign(ranks_, 1);
  for (int which = 0; which < std::min(rules_.channels, 2) && ranks_ > 1; ++which) {
    Shape tree;
    tree.channels = (rules_.channels + 1 - which) / 2;
    tree.parents = tree_parents(nodes, which);
    tree.up.assign(ranks_, -1);
    tree.down.assign(ranks_, -1);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (tree.parents[r] < 0) tree.down_order.push_back(static_cast<int>(r));
    }
    for (std::size_t i = 0; i < tree.down_order.size(); ++i) {
      for (std::size_t r = 0; r < ranks_; ++r) {
        if (tree.parents[r] == tree.down_order[i]) tree.down_order.push_back(static_cast<int>(r));
      }
    }
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (tree.parents[r] < 0) continue;
      const auto p = static_cast<std::size_t>(tree.parents[r]);
      const auto connect = [&](std::size_t from, std::size_t to) {
        const int relay = relay_between(rules_.relays, devices[from], devices[to]);
        const std::size_t position = 2 * (r + ranks_ * static_cast<std::size_t>(which)) + (from == r ? 0 : 1);
        return graph_.add_connection({.from = devices[from],
                                      .to = devices[to],
                                      .sockets = tree.channels * rules_.sockets[to],
                                      .route = network.route(devices[from], devices[to], rules_.nic, relay),
                                      .nic = rules_.nic,
                                      .relay = relay},
                                     static_cast<int>(position));
      };
      tree.up[r] = connect(r, p);
      tree.down[r] = connect(p, r);
    }
    trees_.push_back(std::move(tree));
  }
}

std::vector<TaskId> Tree::all_reduce(Bytes size, Bytes chunk, TagId tag, std::span<const TaskId> ready) {
  assert(ready.size() == ranks_);
  if (ranks_ < 2 || graph_.has_only_connections()) return {ready.begin(), ready.end()};
  std::vector<std::vector<TaskId>> parts(ranks_);
  for (const Shape& tree : trees_) {
    const auto done = rules_.detail == Detail::kSteps ? run_steps(tree, size, chunk, tag, ready)
                                                      : run_aggregated(tree, size, chunk, tag, ready);
    for (std::size_t r = 0; r < ranks_; ++r) parts[r].push_back(done[r]);
  }
  std::vector<TaskId> out;
  out.reserve(parts.size());
  for (const auto& part : parts) out.push_back(graph_.delay({0}, tag, part));
  return out;
}

std::vector<TaskId> Tree::run_steps(const Shape& tree, Bytes size, Bytes chunk, TagId tag,
                                    std::span<const TaskId> ready) {
  const Bytes loop_size = chunk * rules_.channels;
  const auto count = static_cast<std::int64_t>(loops(size, chunk, rules_.channels));
  std::vector<TaskId> has(ranks_);
  std::vector<std::vector<TaskId>> waits(ranks_);
  for (std::int64_t loop = 0; loop < count; ++loop) {
    const Bytes left = size - loop_size * static_cast<double>(loop);
    const Bytes piece = std::min(left, loop_size) * (static_cast<double>(tree.channels) / rules_.channels);
    for (std::size_t r = 0; r < ranks_; ++r) waits[r].assign(1, ready[r]);
    for (auto at = tree.down_order.rbegin(); at != tree.down_order.rend(); ++at) {
      const auto r = static_cast<std::size_t>(*at);
      if (tree.parents[r] < 0) {
        has[r] = graph_.delay({0}, tag, waits[r]);
      } else {
        waits[tree.parents[r]].push_back(graph_.transfer(tree.up[r], piece, tag, waits[r]));
      }
    }
    for (const int rank : tree.down_order) {
      const auto r = static_cast<std::size_t>(rank);
      if (tree.parents[r] < 0) continue;
      has[r] = graph_.transfer(tree.down[r], piece, tag, std::span(&has[tree.parents[r]], 1));
    }
  }
  return has;
}

// One transfer per edge with all of its chunks. It starts when the first chunk can arrive, and the last chunk arrives
// no sooner than one chunk's time after that of the edge before.
std::vector<TaskId> Tree::run_aggregated(const Shape& tree, Bytes size, Bytes chunk, TagId tag,
                                         std::span<const TaskId> ready) {
  const Bytes volume = size * (static_cast<double>(tree.channels) / rules_.channels);
  const Bytes piece = std::min(chunk * tree.channels, volume);
  struct Chunks {
    TaskId first, last;  // chunk
  };
  const auto carry = [&](int connection, const Chunks& chunks) -> Chunks {
    const TaskId sent = graph_.transfer(connection, volume, tag, std::span(&chunks.first, 1));
    const Seconds edge = edge_time(connection, piece);
    const TaskId last = graph_.delay(edge, tag, std::span(&chunks.last, 1));
    return {graph_.delay(edge, tag, std::span(&chunks.first, 1)), graph_.delay({0}, tag, std::array{sent, last})};
  };
  std::vector<std::vector<TaskId>> first(ranks_), last(ranks_);
  for (std::size_t r = 0; r < ranks_; ++r) first[r] = last[r] = {ready[r]};
  std::vector<Chunks> has(ranks_);
  for (auto at = tree.down_order.rbegin(); at != tree.down_order.rend(); ++at) {
    const auto r = static_cast<std::size_t>(*at);
    has[r] = {graph_.delay({0}, tag, first[r]), graph_.delay({0}, tag, last[r])};
    if (tree.parents[r] < 0) continue;
    const Chunks up = carry(tree.up[r], has[r]);
    first[tree.parents[r]].push_back(up.first);
    last[tree.parents[r]].push_back(up.last);
  }
  std::vector<TaskId> done(ranks_);
  for (const int rank : tree.down_order) {
    const auto r = static_cast<std::size_t>(rank);
    if (tree.parents[r] >= 0) has[r] = carry(tree.down[r], has[tree.parents[r]]);
    done[r] = has[r].last;
  }
  return done;
}

Seconds Tree::edge_time(int connection, Bytes piece) const {
  const Connection& c = graph_.connection(connection);
  BytesPerSecond rate{INFINITY};
  if (c.route.socket_rate.value > 0) rate = c.route.socket_rate * static_cast<double>(c.sockets);
  for (const int link : c.route.links) rate = std::min(rate, graph_.links()[link].bandwidth);
  return c.route.latency + piece / rate;
}

}  // namespace slmsim
