// How long what comes to a full link waits behind the bytes that senders have put there.
//
// A window's bytes come in bursts and queue before their bottleneck. Where the other direction is as full, acknowledgements
// follow its data and come late and together ("ACK-compression": Zhang, Shenker and Clark, SIGCOMM 1991).
#pragma once

#include <algorithm>
#include <vector>

#include "sim/platform/network.h"

namespace slmsim {

class LinkQueues {
 public:
  explicit LinkQueues(const std::vector<Link>& links) {
    for (const auto& link : links) queues_.push_back({.bandwidth = link.bandwidth.value});
  }

  void add(int link, double bytes, double now) { settle(link, now).bytes += bytes; }
  // Seconds until all that is queued has left.
  double wait(int link, double now) {
    const Queue& queue = settle(link, now);
    return queue.bytes / queue.bandwidth;
  }

 private:
  struct Queue {
    double bandwidth = 0, bytes = 0, seen = 0;
  };

  Queue& settle(int link, double now) {
    Queue& queue = queues_[static_cast<std::size_t>(link)];
    queue.bytes = std::max(0.0, queue.bytes - queue.bandwidth * (now - queue.seen));
    queue.seen = now;
    return queue;
  }

  std::vector<Queue> queues_;
};

}  // namespace slmsim
