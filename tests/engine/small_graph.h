// A task graph of a few links and connections with round numbers, written by hand.
#pragma once

#include <utility>
#include <vector>

#include "sim/engine/simulate.h"

namespace slmsim {

// The engine's clock is a double that runs on through all simulations of a process.
inline constexpr double kClock = 1e-7;  // s

class SmallGraph {
 public:
  // `paired`: links 0 and 1 are the two ways of one wire, and so on.
  explicit SmallGraph(const std::vector<double>& bandwidths, bool paired = false)
      : graph_(links_of(bandwidths, paired), 8) {}

  // A connection without a window: route over links, by their index.
  int connect(std::vector<int> links, double latency = 0, double socket_rate = 0, int sockets = 1) {
    Route route;
    route.links = std::move(links);
    route.latency = Seconds{latency};
    route.socket_rate = BytesPerSecond{socket_rate};
    return graph_.add_connection({0, 1, sockets, route});
  }

  // Over link 0, with a TCP window per socket.
  int connect_windowed(double initial, double steady, double rtt, double idle_limit = 0, int sockets = 1,
                       double latency = 0, int link = 0) {
    return connect_windowed_over({link}, initial, steady, rtt, idle_limit, sockets, latency);
  }
  int connect_windowed_over(std::vector<int> links, double initial, double steady, double rtt, double idle_limit = 0,
                            int sockets = 1, double latency = 0, double socket_rate = 0) {
    Route route;
    route.links = std::move(links);
    route.latency = Seconds{latency};
    route.socket_rate = BytesPerSecond{socket_rate};
    route.windowed = true;
    route.window = {Bytes{initial}, Bytes{steady}, Seconds{rtt}, Seconds{idle_limit > 0 ? idle_limit - rtt : 0}};
    route.window.restart = Bytes{initial};
    return graph_.add_connection({0, 1, sockets, route});
  }

  // Over one link, with CUBIC's window of at most `steady` bytes; `loss`: of segments of 100 B.
  int connect_lossy(double steady, double rtt, double loss, int link) {
    Route route;
    route.links = {link};
    route.latency = Seconds{rtt / 2};
    route.windowed = true;
    route.window = {
        .initial = Bytes{1000}, .steady = Bytes{steady}, .rtt = Seconds{rtt}, .segment = Bytes{100}, .loss = loss};
    route.window.congestion_control = CongestionControl::kCubic;
    return graph_.add_connection({0, 1, 1, route});
  }

  TaskId send(int connection, double bytes, const std::vector<TaskId>& after = {}) {
    return graph_.transfer(connection, Bytes{bytes}, graph_.tag({.name = "send"}), after);
  }
  // `bound`: by multiprocessors.
  TaskId compute(int device, double time, const std::vector<TaskId>& after = {}, double bound = 0) {
    return graph_.compute(device, Seconds{time}, graph_.tag({"compute", TaskClass::kForward}), after, {{}, bound});
  }
  // Holds multiprocessors of a device from these tasks on, or releases them.
  TaskId hold(int device, TaskGraph::SmShare multiprocessors, const std::vector<TaskId>& after = {}) {
    return graph_.hold(device, multiprocessors, graph_.tag({.name = "hold"}), after);
  }
  TaskId release(int device, TaskGraph::SmShare multiprocessors, const std::vector<TaskId>& after) {
    return graph_.release(device, multiprocessors, graph_.tag({.name = "hold"}), after);
  }
  TaskId wait(double time, const std::vector<TaskId>& after = {}) {
    return graph_.delay(Seconds{time}, graph_.tag({.name = "wait"}), after);
  }

  Timeline run(const std::vector<ConnectionState>& before = {},
               const SimulationOptions& options = {.record_flows = true}) const {
    return simulate(graph_, before, options);
  }
  double end() const { return run().end.value; }
  const TaskGraph& graph() const { return graph_; }

 private:
  static std::vector<Link> links_of(const std::vector<double>& bandwidths, bool paired) {
    std::vector<Link> links;
    for (const double bandwidth : bandwidths) links.push_back({"link", BytesPerSecond{bandwidth}});
    for (std::size_t i = 0; paired && i < links.size(); ++i) links[i].back = static_cast<int>(i ^ 1);
    return links;
  }
  TaskGraph graph_;
};

}  // namespace slmsim
