// Lower bounds of a choice's time, which rule choices out: before planning, and before anything is simulated.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <boost/unordered_map.hpp>

#include "sim/platform/network.h"
#include "sim/search/space.h"
#include "sim/technique/common/lower.h"

namespace slmsim {

// Bound without a plan: every operator of every sequence is computed on some GPU, at the largest share of its peak that the GPU
// reaches, and each iteration is launched first. With c_og the least time of operator o on GPU g (least_operator_time), t_g =
// sum_o c_og and any distribution of the operators,
//   max_g time_g >= sum_o min_g (c_og / t_g) / sum_g (1 / t_g)
// which is duality of the linear program with prices 1 / t_g. For whole jobs, whose links change over the day and whose GPUs
// scatter: with the shortest round trips of the day and the fastest GPUs of any draw.
class QuickBound {
 public:
  explicit QuickBound(const Space& space, PlanObjective objective = PlanObjective::kTime);

  // Choices of a list (Space::lists) with equal bounds, by their places in it, and the values that their bounds use.
  struct Class {
    Seconds startup, launch;
    double batch = 0, steps = 0, round_trips = 0;
    Launcher launcher = Launcher::kProcesses;
    bool anew = false;  // rematerialisation
    std::vector<std::uint32_t> places = {};
  };
  const std::vector<Class>& classes(const Space::Block& block) const { return classes_[block.list]; }

  // Of a job, start-up included; `step`: another bound of a step, without its launch.
  Seconds job(std::int32_t group, const Class& of, Seconds step = Seconds{0}) const;
  Seconds job(std::size_t choice, Seconds step = Seconds{0}) const;
  // The longest step of a job that takes no longer than this.
  Seconds step_within(std::size_t choice, Seconds job) const;

 private:
  void add_classes();
  const Class& class_of(const Space::Block& block, std::size_t choice) const;
  Seconds compute(std::int32_t group, bool anew) const;  // per sequence
  Seconds launch(std::int32_t group, const Class& of) const;

  const Space& space_;
  double factor_ = 1;
  Network network_;
  std::vector<int> kinds_;                                               // of GPUs, see gpu_kinds
  std::map<int, std::array<std::vector<double>, 2>> least_;              // by kind; for each operator without and with
                                                                         // rematerialisation
  std::vector<std::vector<Class>> classes_;                              // by list
  std::vector<std::vector<std::uint32_t>> class_of_;                     // by list and place
  mutable std::vector<std::array<std::optional<Seconds>, 2>> compute_;   // by group; without and with rematerialisation
  mutable std::vector<std::array<std::optional<Seconds>, 2>> farthest_;  // from the nearest driver, from the first GPU
  mutable boost::unordered_map<std::pair<int, int>, Seconds> round_trips_;
};

// For a task graph: the longest path through its tasks with every transfer alone on its path, and the bytes of each link at its
// bandwidth. A transfer of B bytes with window W takes at least ceil(B / W) - 1 round trips, whatever the connection's state.
Seconds least_end(const TaskGraph& graph);

// For an iteration of the plan with any number of micro-batches; also the approximate number of tasks in a simulation.
//
// Where many micro-batches follow one another (sim/predict/repeating.h) two graphs of few are made, of m and of m + r. A task u
// in the middle of a line of the second (a stream, a host, a connection) has a counterpart one round later, and with l the
// longest path from u to that one, an iteration of M takes at least
//   (longest way to u) + (M - m - r) / r * l + (longest way from u)
// because the additional micro-batches between them lengthen the path. The bound is the largest of these, for lines on the
// critical path and the streams that compute longest, of least_end, and of the bytes of each link.
struct LeastIteration {
  Seconds end;
  double tasks = 0;
};
LeastIteration least_iteration(const LowerRequest& request);

}  // namespace slmsim
