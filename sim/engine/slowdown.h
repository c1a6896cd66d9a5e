// Computations beside NCCL's kernels.
//
// A collective's kernel is a grid of as many thread blocks as it uses channels (NCCL 2.18, src/enqueue.cc: ncclLaunchKernel),
// each of which fills a multiprocessor's registers (at most 640 threads, of one block: NCCL_MAX_NTHREADS) and stays there from
// the call's begin to its end, also while it waits for its peers. What is computed meanwhile has the other S - h of S:
//
//   time = time alone x (b S / (S - h) + 1 - b) = time alone x (1 + b h / (S - h))
//
// where b is the share of its time that multiprocessors bound (Work::bound). What memory bounds takes as long as ever: the
// multiprocessors that are left can still ask for all that memory delivers. A computation goes on at the rate of each moment.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/graph/task_graph.h"

namespace slmsim {

// What a computation takes to what it takes alone.
inline double slowed(double bound, int multiprocessors, int held) {
  const int left = std::max(1, multiprocessors - held);
  return 1 + bound * (multiprocessors - left) / left;
}

// A computation that is under way.
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

// What is computed on each device, for a simulation by events.
class Computing {
 public:
  explicit Computing(const TaskGraph& graph);

  // Whether anything may slow it.
  bool slows(TaskId task) const;
  // Returns when it will be done as things are.
  double begin(TaskId task, double now);
  // A hold or a release, which counts once settled.
  void happen(const Task& hold);
  // All that happens at one time is settled at once; `tell(task, date)`: that it will be done then instead.
  template <class Tell>
  void settle(double now, Tell tell) {
    for (const std::size_t device : changed_) {
      devices_[device].changed = false;
      for (Running& one : devices_[device].running) {
        if (one.pace.change(now,
                            slowed(one.bound, graph_.multiprocessors(static_cast<int>(device)), devices_[device].held)))
          tell(one.task, one.pace.finish());
      }
    }
    changed_.clear();
  }
  // Whether the task is done at this time, which it was once to be; it is then no longer under way.
  bool ends(TaskId task, double date);

 private:
  struct Running {
    TaskId task;
    double bound;
    Pace pace;
  };
  struct Device {
    int held = 0;
    bool changed = false;
    std::vector<Running> running;
  };
  const TaskGraph& graph_;
  std::vector<Device> devices_;
  std::vector<std::size_t> changed_;
};

// The same of one device where tasks are gone through in the order in which they were added: holds and releases are known
// before what is computed beside them.
class KnownHolds {
 public:
  // False where it comes too late: a computation that was beside it has been gone through.
  bool happen(double time, int held);
  double finish(double start, double alone, double bound, int multiprocessors);

 private:
  struct Step {
    double time;
    int held;  // from then on
  };
  std::vector<Step> steps_;  // by time
  double done_ = 0;          // until when computations have been gone through
};

}  // namespace slmsim
