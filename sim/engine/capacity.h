// What each connection of a graph can carry at most, and where it may have to share.
#pragma once

#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

struct Capacity {
  double most = 0;    // B/s that the connection can ever carry: the least of its sockets and of its links
  double single = 0;  // of one of its sockets that has the path to itself
  // Links that all their connections at their most would overload. Any other link never limits anybody.
  std::vector<int> contended;
  // Where TCP's window is what keeps a link full: the first such one, before which its bytes queue, and the one on the way
  // back before which data of such connections queue, and with them this one's acknowledgements; the nearest to the receiver
  // if there are several. -1: none.
  int bottleneck = -1, back = -1;
  int alike = 1;  // connections that this one is taken for on the bottleneck
};

// One per connection of the graph.
std::vector<Capacity> capacities(const TaskGraph& graph);

}  // namespace slmsim
