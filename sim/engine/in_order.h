// The same simulation without an event queue. It applies where no link is shared, no acknowledgement waits behind data,
// every connection's transfers become ready in the order of addition, as a ring's do, and NCCL's holds on a GPU are
// added before the transfers that follow the concurrent computation. Each task's times then follow from earlier tasks
// and from its own connection alone, and tasks are processed in order.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/capacity.h"
#include "sim/engine/same_times.h"
#include "sim/engine/simulate.h"

namespace slmsim {

// Gives bit-identical results to simulate() by events. One task of each set with always equal times is processed.
class InOrder {
 public:
  // The graph is not changed. `known`: storage for the classes of equal tasks, reused by the next simulation of a graph
  // that differs only in amounts and connections.
  explicit InOrder(const TaskGraph& graph, SameTimes* known = nullptr);
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  // False where the conditions above fail, which is found during the run. `flows`: records them for timeline().
  bool run(const std::vector<ConnectionState>& before, bool flows = false);
  // Results of the last run.
  Seconds end() const { return end_; }
  const std::vector<ConnectionState>& connections() const { return connections_; }
  Timeline timeline() const;

 private:
  struct Step {
    double amount = 0;
    std::uint32_t begin = 0;  // of its predecessors
    std::int32_t place = 0;   // its line for a transfer, else its device
    std::uint16_t times = 1;
    TaskKind kind = TaskKind::kDelay;
  };

  bool is_known(const std::vector<ConnectionState>& before) const;
  void number(const std::vector<ConnectionState>& before);

  const TaskGraph& graph_;
  std::vector<Capacity> limits_;  // per connection
  bool holds_ = true;
  SameTimes own_;
  SameTimes& same_;
  std::vector<Step> steps_;
  std::vector<double> start_, finish_;  // per step
  std::vector<Flow> flows_;             // per line
  Seconds end_;
  std::vector<ConnectionState> connections_;
};

}  // namespace slmsim
