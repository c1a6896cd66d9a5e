// What each connection of a graph can carry at most, where it may have to share, and where its bytes may queue.
#pragma once

#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

// A link before which TCP's bytes queue, on the way of a connection.
struct QueuedLink {
  int link = -1;
  int alike = 1;    // connections that this one is taken for on the link
  double rate = 0;  // B/s at which its bytes come there: what its sockets copy and the links before let through
};

struct Capacity {
  double most = 0;    // B/s that the connection can ever carry: the least of its sockets and of its links
  double single = 0;  // of one of its sockets that has the path to itself
  // Links that all their connections at their most would overload. Any other link never limits anybody.
  std::vector<int> contended;
  // Links of the way before which its bytes queue, and of the way back where its acknowledgements wait behind such bytes of
  // others. Those where no acknowledgements wait are left out.
  std::vector<QueuedLink> queued;
  std::vector<int> back;
  bool windowed = false;  // TCP's window may be what limits: by itself, or since acknowledgements wait
};

// One per connection of the graph.
//
// What TCP sends comes to a link as fast as the sockets copy it and the links before carry it: of a link that all connections
// at their most would overload, each carries its part. Where all that comes to a link is no more than the link carries, nothing
// queues. So what queues grows from nothing as a link becomes slower than what comes to it, wherever a route's slowest link is.
std::vector<Capacity> capacities(const TaskGraph& graph);

// Whether a window may bind any of them.
bool has_windows(const std::vector<Capacity>& limits);

}  // namespace slmsim
