// The host as a second queue: it launches an operator's kernels while the GPU still computes earlier ones, and whichever is
// later decides when the next begins. A GPU that waits for others gives its host time to go ahead.
//
// A stretch of computation i of a rank becomes
//
//   host_i   a delay after host_(i-1)
//   gpu_i    a computation after gpu_(i-1), what it needs, and host_(i-1)
//   end_i    when both are over
//
// Where the host needs less than the GPU in every stretch it is never the later one, and no task is made of it.
#pragma once

#include <array>
#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

class HostQueue {
 public:
  // `binds`: whether a rank's host needs longer than its GPU somewhere.
  explicit HostQueue(std::vector<bool> binds) : binds_(std::move(binds)), last_(binds_.size(), kNoTask) {}

  struct Stretch {
    Seconds gpu, host;
    Flops work{};
  };
  // `tag` has the pass. Returns the end.
  TaskId run(TaskGraph& graph, std::size_t rank, int device, const Stretch& stretch, TagId tag,
             std::array<TaskId, 2> after) {
    if (!binds_[rank]) return graph.compute(device, stretch.gpu, tag, after, stretch.work);
    const TagId launching = graph.tag({"launch kernels", TaskClass::kHost, graph.tags()[tag].pass});
    const TaskId before = last_[rank];
    last_[rank] = graph.host(device, stretch.host, launching, std::array{before == kNoTask ? after[0] : before});
    const TaskId gpu = graph.compute(device, stretch.gpu, tag, std::array{after[0], after[1], before}, stretch.work);
    return graph.delay({0}, tag, std::array{gpu, last_[rank]});
  }
  // A rank's host has done what another's has.
  void follow(std::size_t rank, std::size_t other) { last_[rank] = last_[other]; }

 private:
  std::vector<bool> binds_;
  std::vector<TaskId> last_;  // of each rank's host
};

}  // namespace slmsim
