// A passage: one task of a graph that stands for many of a few GPUs, such as a stage's pass over its layers. The GPUs begin it
// at once and share its links with nothing else meanwhile, so what takes place inside repeats each time it does. That both
// hold is checked after the simulation (sim/predict/passages.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "sim/engine/fold.h"

namespace slmsim {

// The parts of a passage. Its GPUs begin at g and its hosts are free to launch at h: a part begins at
// max(g + from_gpu, h + from_host).
struct Inside {
  struct Span {
    double from_gpu = 0, from_host = 0, length = 0;  // s

    // The same in a passage that begins at another one's span.
    Span after(const Span& before) const { return {before.from_gpu + from_gpu, before.from_host + from_gpu, length}; }
    double start(double gpu, double host) const { return std::max(gpu + from_gpu, host + from_host); }
  };
  struct Transfer {
    Span when;                   // while its bytes leave
    std::size_t connection = 0;  // index into Exchangers::connections
    double bytes = 0;
  };
  std::vector<Span> computing, transferring;  // per GPU; a transfer lasts until its bytes have arrived
  std::vector<Span> exchanges;                // whole ones
  double computed = 0;                        // s, without what NCCL's kernels add
  std::vector<Transfer> transfers;

  // Adds what takes place inside something that begins with `at` and never waits for hosts; `first`: the number of its first
  // connection.
  void add(const Inside& next, const Span& at, std::size_t first) {
    for (const Span& span : next.computing) computing.push_back(span.after(at));
    for (const Span& span : next.transferring) transferring.push_back(span.after(at));
    for (const Span& span : next.exchanges) exchanges.push_back(span.after(at));
    for (Transfer one : next.transfers) {
      one.when = one.when.after(at);
      one.connection += first;
      transfers.push_back(one);
    }
  }
};

// The links of the GPUs of some passages.
struct Exchangers {
  static constexpr int kRepeated = -1;
  // Connections of the graph; kRepeated where one of the same colour (fold.h) comes before.
  std::vector<int> connections;
  // By how many connections of these GPUs, opened together, a link is crossed.
  struct Crossing {
    int opened = 0, link = 0, count = 0;
  };
  std::vector<Crossing> crossings;
};

// A passage of one of its GPUs.
struct Passage {
  int device = 0;
  TaskId task = kNoTask;
  // A delay from when the host is free until it lets the passage end; kNoTask: it is never late.
  TaskId launching = kNoTask;
  TaskId meeting = kNoTask;  // a join of tasks of several GPUs, which must end at once; kNoTask: there is one task
  TaskId end = kNoTask;
  std::shared_ptr<const Inside> inside;
  std::shared_ptr<const Exchangers> exchangers;  // nullptr: another GPU's passage has them, or there are none
};

// A computation that stands for `times` steps of a device, each like the one before them: what its tasks from `begin`, the end of
// an earlier step, to `end` do. Nothing but these steps uses their links meanwhile. After the simulation it is checked that the
// step before takes as long as each of them, and that its host launches no longer than that (sim/predict/passages.h).
struct RepeatedSteps {
  int device = 0;
  TaskId task = kNoTask;
  TaskId launching = kNoTask;  // its host launches all of them in this task; kNoTask: the host is never late
  TaskId begin = kNoTask, end = kNoTask;
  int times = 0;

  bool repeats(TaskId id) const { return begin < id && id <= end; }
};

}  // namespace slmsim
