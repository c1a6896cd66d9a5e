// Times that no simulation of a choice goes below: they rule choices out before anything is simulated, and before anything is
// planned.
#pragma once

#include <map>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/search/space.h"

namespace slmsim {

// Before a plan is known: every operator of every sequence is computed somewhere, at the most that a GPU reaches of its peak,
// and each iteration is launched first. With c_og the least time of operator o on GPU g (least_operator_time), t_g = sum_o c_og
// and any way to share the operators out,
//   max_g time_g >= sum_o min_g (c_og / t_g) / sum_g (1 / t_g)
// which is duality of the linear program with prices 1 / t_g. Of whole jobs, whose links change over the day and whose GPUs
// scatter: at the shortest round trips of the day and the fastest GPUs of any draw.
class QuickBound {
 public:
  explicit QuickBound(const Space& space, PlanObjective objective = PlanObjective::kTime);
  Seconds job(const Choice& choice) const;  // with its start-up

 private:
  Seconds compute(const Choice& choice, const Training& training,
                  const TechniqueOptions& options) const;  // of a sequence
  Seconds launch(const Choice& choice, const Training& training, const TechniqueOptions& options) const;

  const Space& space_;
  double factor_ = 1;
  Network network_;
  std::vector<int> kinds_;                                            // of GPUs, see gpu_kinds
  std::map<int, std::array<std::vector<double>, 2>> least_;           // by kind; of each operator without and with
                                                                      // rematerialisation
  mutable std::map<std::pair<std::int32_t, bool>, Seconds> compute_;  // of a sequence; caches
  mutable std::map<std::pair<std::int32_t, bool>, Seconds> farthest_;
};

// Of a task graph: the longest way through its tasks with every transfer alone on its path, and the bytes of each link at its
// bandwidth. A transfer of B bytes with window W takes at least ceil(B / W) - 1 round trips, whatever the connection's state.
Seconds least_end(const TaskGraph& graph);

}  // namespace slmsim
