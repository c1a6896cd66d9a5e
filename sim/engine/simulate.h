// Executes a task graph and tells when each task started and finished.
//
// Flows share every link by max-min fairness: each link's flows get equal shares, whatever their latency. Their rates come
// from fair_shares.h or, in the largest networks, from SimGrid (whose CM02 weighs by 1/latency where links have latency, so
// here they have none). Everything that such network models leave out is done around it:
//   - latency: a transfer arrives one latency after its last byte left;
//   - order: a connection carries its transfers one after the other;
//   - sockets: a connection's rate is at most what its sockets can copy;
//   - TCP's window: at most a window of bytes is on its way (tcp_sender.h);
//   - queues: acknowledgements wait behind data where both directions are full (link_queues.h).
#pragma once

#include <vector>

#include "sim/engine/tcp_sender.h"
#include "sim/graph/task_graph.h"

namespace slmsim {

// Bytes of a connection that will be acknowledged so long after the end of an iteration.
struct OnTheWay {
  Seconds due;
  double bytes = 0;

  bool operator==(const OnTheWay&) const = default;
};

// A connection between iterations.
struct ConnectionState {
  TcpState tcp;
  Seconds idle;  // since its last byte left
  std::vector<OnTheWay> on_the_way;

  bool operator==(const ConnectionState&) const = default;
};

// A stretch of a transfer during which bytes were on their way out.
struct Flow {
  int connection = 0;
  double start = 0, finish = 0;  // s
  double bytes = 0;
};

struct Timeline {
  Seconds end;
  std::vector<double> start, finish;  // s, per task
  std::vector<Flow> flows;            // in the order in which they finished, if recorded; each at one rate
  std::vector<ConnectionState> connections;
};

struct SimulationOptions {
  bool record_flows = false;
  bool always_events = false;  // also where tasks can be gone through in order (in_order.h), which gives the same
  bool always_engine = false;  // also where few flows share links, which is slower and gives the same
};

// `before`: the connections' state at the start, empty for new ones. Throws std::logic_error if a task never
// finished, which would be an error of this program. One process has one SimGrid engine; calls must not
// overlap.
Timeline simulate(const TaskGraph& graph, const std::vector<ConnectionState>& before = {},
                  const SimulationOptions& options = {});

// SimGrid cannot grow its network after the first simulation. Whoever means to simulate a larger network
// after a smaller one says so beforehand; simulate() throws std::logic_error otherwise.
void reserve_network(std::size_t links);

// Whether any simulation of this process needed the engine. Its clock runs on, so that a further simulation may differ
// from the first one of a process in the last digits.
bool engine_has_run();

}  // namespace slmsim
