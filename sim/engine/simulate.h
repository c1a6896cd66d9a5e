// Executes a task graph and returns the start and end of each task.
//
// Flows share every link by max-min fairness: each link's flows get equal shares, independent of their latency. Their
// rates come from fair_shares.h or, in the largest networks, from SimGrid (whose CM02 weighs by 1/latency where links
// have latency, so here they have none). Effects outside such network models are added:
//   - latency: a transfer arrives one latency after its last byte left;
//   - order: a connection carries its transfers one after the other;
//   - sockets: a connection's rate is at most what its sockets can copy;
//   - TCP's window: at most a window of bytes is in flight (tcp_sender.h);
//   - queues: acknowledgements wait behind data where both directions are full (link_queues.h).
#pragma once

#include <vector>

#include "sim/engine/task_graph.h"
#include "sim/engine/tcp_sender.h"

namespace slmsim {

// Bytes of a connection that will be acknowledged `due` after the end of an iteration.
struct PendingAck {
  Seconds due;
  double bytes = 0;

  bool operator==(const PendingAck&) const = default;
};

// A connection between iterations.
struct ConnectionState {
  TcpState tcp;
  Seconds idle;  // since its last byte left
  std::vector<PendingAck> on_the_way;

  bool operator==(const ConnectionState&) const = default;
};

// A part of a transfer during which bytes left.
struct Flow {
  int connection = 0;
  double start = 0, finish = 0;  // s
  double bytes = 0;
};

struct Timeline {
  Seconds end;
  std::vector<double> start, finish;  // s, per task
  std::vector<Flow> flows;            // if recorded; in order of time for each connection; each at one rate
  std::vector<ConnectionState> connections;
};

struct SimulationOptions {
  bool record_flows = false;
  bool always_engine = false;  // also where few flows share links: slower, with the same results
  // For simulate_iterations (sim/predict/iterations.h): a first iteration that is long stands for all.
  bool coarse = false;
};

class Successors;  // sim/engine/pending.h

// `before`: the connections' state at the start, empty for new ones. `known`: the graph's successors, if several
// simulations share them. `memory`: a timeline of no further use, whose memory the result takes. Throws std::logic_error if
// a task never ends, which is an error of this program. A process has one SimGrid engine, so calls must not overlap.
Timeline simulate(const TaskGraph& graph, const std::vector<ConnectionState>& before = {},
                  const SimulationOptions& options = {}, const Successors* known = nullptr, Timeline memory = {});

// SimGrid's network cannot grow after the first simulation. Call this first if a larger network will follow a smaller
// one; otherwise simulate() throws std::logic_error.
void reserve_network(std::size_t links);

// Whether any simulation of this process used the engine. Its clock continues, so a further simulation may differ from
// the first one of a process in the last digits.
bool engine_has_run();

}  // namespace slmsim
