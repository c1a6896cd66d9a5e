// Slowdown of computations beside NCCL's kernels.
//
// A collective's kernel is a grid with one thread block per channel (NCCL 2.18, src/enqueue.cc: ncclLaunchKernel). Each
// block fills a multiprocessor's registers (at most 640 threads, of one block: NCCL_MAX_NTHREADS) and stays there from
// the begin of the call to its end, also while it waits for its peers. Concurrent computations have the other S - h of
// S multiprocessors:
//
//   time = time alone x (b S / (S - h) + 1 - b) = time alone x (1 + b h / (S - h))
//
// where b is the share of the time that multiprocessors bound (Work::bound). The memory-bound part is unchanged: the
// remaining multiprocessors can still use the full bandwidth. A computation proceeds at the rate of each moment.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/engine/task_graph.h"

namespace slmsim {

// Time of a computation relative to its stand-alone time.
inline double slowed(double bound, int multiprocessors, int held) {
  const int left = std::max(1, multiprocessors - held);
  return 1 + bound * (multiprocessors - left) / left;
}

// A running computation.
class Pace {
 public:
  Pace(double now, double alone, double slowed)
      : left_(alone), seen_(now), slowed_(slowed), finish_(now + alone * slowed) {}
  // False where nothing changes.
  bool change(double now, double slowed) {
    if (slowed == slowed_) return false;
    left_ = std::max(0.0, left_ - (now - seen_) / slowed_);
    seen_ = now;
    slowed_ = slowed;
    finish_ = now + left_ * slowed;
    return true;
  }
  double finish() const { return finish_; }

 private:
  double left_, seen_, slowed_, finish_;  // left_: alone on the GPU
};

// Running computations of each device, for a simulation by events.
class DeviceComputations {
 public:
  explicit DeviceComputations(const TaskGraph& graph);

  // Whether anything may slow the task.
  bool slows(TaskId task) const;
  // Returns its end under the present holds.
  double begin(TaskId task, double now);
  // A hold or a release; effective after settle().
  void happen(const Task& hold);
  // Settles all changes of one time; `tell(task, date)` reports a task's new end.
  template <class Tell>
  void settle(double now, Tell tell) {
    for (const std::size_t device : changed_) {
      devices_[device].changed = false;
      for (Computation& one : devices_[device].running) {
        if (one.pace.change(now,
                            slowed(one.bound, graph_.multiprocessors(static_cast<int>(device)), devices_[device].held)))
          tell(one.task, one.pace.finish());
      }
    }
    changed_.clear();
  }
  // Whether `date`, announced earlier, is still the task's end; if so, the task is no longer running.
  bool ends(TaskId task, double date);

 private:
  struct Computation {
    TaskId task;
    double bound;
    Pace pace;
  };
  struct Device {
    int held = 0;
    bool changed = false;
    std::vector<Computation> running;
  };
  const TaskGraph& graph_;
  std::vector<double> bounds_;  // per task
  std::vector<Device> devices_;
  std::vector<std::size_t> changed_;
};

}  // namespace slmsim
