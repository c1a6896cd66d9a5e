// The same simulation without an event queue. It applies where no link is shared, no acknowledgement waits behind data,
// every connection's transfers become ready in the order of addition, as a ring's do, and NCCL's holds on a GPU are
// added before the transfers that follow the concurrent computation. Each task's times then follow from earlier tasks
// and from its own connection alone, and tasks are processed in order.
#pragma once

#include <vector>

#include "sim/engine/capacity.h"
#include "sim/engine/line.h"
#include "sim/engine/simulate.h"

namespace slmsim {

// Gives bit-identical results to simulate() by events.
class InOrder {
 public:
  explicit InOrder(const TaskGraph& graph);
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  // False where the conditions above fail, which is found during the run. `flows`: records them for timeline().
  bool run(const std::vector<ConnectionState>& before, bool flows = false);
  // Results of the last run.
  Seconds end() const { return end_; }
  const std::vector<ConnectionState>& connections() const { return connections_; }
  Timeline timeline() const;

 private:
  bool send(Line& line, Release release, const Task& task);

  const TaskGraph& graph_;
  std::vector<Capacity> limits_;  // per connection
  bool holds_ = true;
  std::vector<double> start_, finish_;  // per task
  std::vector<Flow> flows_;
  Seconds end_;
  std::vector<ConnectionState> connections_;
};

}  // namespace slmsim
