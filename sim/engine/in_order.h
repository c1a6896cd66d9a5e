// The same simulation without a queue of events, where nobody shares a link, no acknowledgement waits behind data, and
// every connection's transfers become ready in the order in which they were added, as a ring's do, and what NCCL's kernels
// hold of a GPU is added before what is sent after the computation beside them: then each task's times follow from those of earlier tasks and of
// its own connection alone, and tasks can be gone through one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/capacity.h"
#include "sim/engine/same_times.h"
#include "sim/engine/simulate.h"

namespace slmsim {

// To the last bit what simulate() gives by events. Of tasks that take place at the same times one is gone through.
class InOrder {
 public:
  // The graph remains as it is. `known`: where to keep which tasks are alike, from one simulation to the next of a graph that
  // differs from the last one in amounts and connections only.
  explicit InOrder(const TaskGraph& graph, SameTimes* known = nullptr);
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  // False where the above does not hold, which shows on the way. Records no flows.
  bool run(const std::vector<ConnectionState>& before);
  // Of the last run.
  Seconds end() const { return end_; }
  const std::vector<ConnectionState>& connections() const { return connections_; }
  Timeline timeline() const;

 private:
  struct Step {
    double amount = 0;
    std::uint32_t begin = 0;  // of what it waits for
    std::int32_t place = 0;   // of a transfer its line, else its device
    std::uint16_t times = 1;
    TaskKind kind = TaskKind::kDelay;
  };

  bool is_known(const std::vector<ConnectionState>& before) const;
  void number(const std::vector<ConnectionState>& before);

  const TaskGraph& graph_;
  std::vector<Capacity> limits_;  // of connections
  bool holds_ = true;
  SameTimes own_;
  SameTimes& same_;
  std::vector<Step> steps_;
  std::vector<double> start_, finish_;  // of steps
  Seconds end_;
  std::vector<ConnectionState> connections_;
};

}  // namespace slmsim
