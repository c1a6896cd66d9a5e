// The maximum rate of each connection of a graph, the links that it shares, and those on which its bytes may queue.
#pragma once

#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

// A link on the path of a connection before which TCP's bytes queue.
struct QueuedLink {
  int link = -1;
  int alike = 1;    // number of connections that this one represents on the link
  double rate = 0;  // B/s at which its bytes arrive: limited by the sockets' copy rate and the links before
};

struct Capacity {
  double most = 0;    // maximum B/s of the connection: the least of its sockets and of its links
  double single = 0;  // of one of its sockets, alone on the path
  // Links that the connections' maximum rates together would overload. Other links never limit.
  std::vector<int> contended;
  // Links of the path before which its bytes queue, and of the return path on which its acknowledgements wait behind
  // the data of others. Links without waiting acknowledgements are omitted.
  std::vector<QueuedLink> queued;
  std::vector<int> back;
  bool windowed = false;  // TCP's window may limit: by itself, or because acknowledgements wait

  // Whether its transfers depend on nothing but those before them.
  bool is_alone() const { return contended.empty() && queued.empty() && back.empty(); }
};

// One per connection of the graph.
//
// TCP's data reaches a link at the rate of the sockets and of the links before it: over a link that the connections'
// maximum rates would overload, each gets its share. Nothing queues where the total arrival rate is at most the link's
// rate. Queueing thus grows continuously from zero as a link becomes slower than its arrivals, for any position of a
// route's slowest link.
std::vector<Capacity> capacities(const TaskGraph& graph);

// Whether a window may bind any of them.
bool has_windows(const std::vector<Capacity>& limits);

}  // namespace slmsim
