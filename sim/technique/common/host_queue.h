// The host as a second queue: it launches an operator's kernels while the GPU still computes earlier ones, and the
// later of both determines the next start. While a GPU waits for others, its host can get ahead.
//
// Stretch i of a rank's computation becomes
//
//   host_i   a delay after host_(i-1)
//   gpu_i    a computation after gpu_(i-1), its inputs, and host_(i-1)
//   end_i    the later end of both
//
// Where the host needs less time than the GPU in every stretch, it is never the later one and gets no tasks.
// Consecutive stretches can be merged: their time is linear in max and plus (Baccelli et al., Synchronization and
// Linearity, 1992, section 1.2), and is given by three figures.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

class HostQueue {
 public:
  // `binds`: whether a rank's host needs longer than its GPU in some stretch.
  explicit HostQueue(std::vector<bool> binds)
      : binds_(std::move(binds)), last_(binds_.size(), kNoTask), launched_(binds_.size()) {}

  struct Stretch {
    Seconds gpu, host;
    Flops work{};
    Seconds bound{};  // part of gpu that is bound by multiprocessors (BoundTime)
    // For merged stretches: with the GPU free at g and the host at h they end at max(g + gpu, h + from_host).
    Seconds from_host{};

    void append(const Stretch& next) {
      from_host = std::max(from_host + next.gpu, host + std::max({next.gpu, next.host, next.from_host}));
      host += next.host;
      gpu += next.gpu;
      work += next.work;
      bound += next.bound;
    }
    Stretch repeated(int times) const {
      Stretch out;
      for (int i = 0; i < times; ++i) out.append(*this);
      return out;
    }
    Stretch part(double share) const {
      return {gpu * share, host * share, work * share, bound * share, from_host * share};
    }
    Work of_gpu() const { return {work, gpu > Seconds{0} ? bound / gpu : 0.0}; }
  };
  // `tag` has the pass. Returns the end.
  TaskId run(TaskGraph& graph, std::size_t rank, int device, const Stretch& stretch, TagId tag,
             std::array<TaskId, 2> after) {
    if (!binds_[rank]) return graph.compute(device, stretch.gpu, tag, after, stretch.of_gpu());
    const TagId launching = launching_in(graph, graph.tags()[tag].pass);
    const TaskId before = last_[rank];
    const std::array free = {before == kNoTask ? after[0] : before};
    last_[rank] = graph.host(device, stretch.host, launching, free);
    launched_[rank] += stretch.host;
    if (stretch.from_host > Seconds{0}) {
      const TaskId gpu = graph.compute(device, stretch.gpu, tag, after, stretch.of_gpu());
      return graph.delay({0}, tag, std::array{gpu, graph.host(device, stretch.from_host, launching, free)});
    }
    const TaskId gpu =
        graph.compute(device, stretch.gpu, tag, std::array{after[0], after[1], before}, stretch.of_gpu());
    return graph.delay({0}, tag, std::array{gpu, last_[rank]});
  }
  // The same for a stretch that is merged of several, in tasks of which each is one span: the GPU's, the host's up to where it
  // lets the stretch end, and the end.
  struct Merged {
    TaskId gpu, launching, end;
  };
  // `first`: the task after which a host begins that has launched nothing.
  Merged run_merged(TaskGraph& graph, std::size_t rank, int device, const Stretch& stretch, TagId tag, TaskId after,
                    TaskId first) {
    const TaskId gpu = graph.compute(device, stretch.gpu, tag, std::array{after}, stretch.of_gpu());
    if (!binds_[rank]) return {gpu, kNoTask, gpu};
    const TagId launching = launching_in(graph, graph.tags()[tag].pass);
    const std::array free = {last_[rank] == kNoTask ? first : last_[rank]};
    const TaskId least = graph.delay(stretch.from_host, launching, free);
    last_[rank] = graph.host(device, stretch.host, launching, free);
    return {gpu, least, graph.delay({0}, tag, std::array{gpu, least})};
  }
  // Time of a host's tasks by run() so far.
  Seconds launched(std::size_t rank) const { return launched_[rank]; }
  // A host that has launched something launches for so long, for tasks that are not in the graph. kNoTask where it is never late.
  TaskId launch(TaskGraph& graph, std::size_t rank, int device, Seconds time) {
    if (binds_[rank]) last_[rank] = graph.host(device, time, launching_in(graph, Pass::kNone), std::array{last_[rank]});
    return last_[rank];
  }
  // Goes on as the same rank of another queue.
  void follow(std::size_t rank, const HostQueue& other) { last_[rank] = other.last_[rank]; }

 private:
  TagId launching_in(TaskGraph& graph, Pass pass) {
    auto& tag = launching_[static_cast<std::size_t>(pass)];
    if (!tag) tag = graph.tag({"launch kernels", TaskClass::kHost, pass});
    return *tag;
  }

  std::vector<bool> binds_;
  std::vector<TaskId> last_;                       // per rank: its host's last task
  std::vector<Seconds> launched_;                  // per rank
  std::array<std::optional<TagId>, 3> launching_;  // per pass
};

}  // namespace slmsim
