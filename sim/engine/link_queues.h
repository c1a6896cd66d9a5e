// How long what comes to a full link waits behind the bytes that senders have put there.
//
// A window's bytes come in bursts and queue before their bottleneck. Where the other direction is as full, acknowledgements
// follow its data and come late and together ("ACK-compression": Zhang, Shenker and Clark, SIGCOMM 1991). One acknowledgement
// here stands for many, that come one after the other and find the queue at all its levels: they wait for its mean since the
// data that they answer began to leave. So a burst that comes a moment before or after one of them makes no difference,
// where its whole length would with the queue of one instant.
//
// Seconds, and bytes.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/platform/network.h"

namespace slmsim {

// What a router keeps of bytes that wait: as much as its link carries in 250 ms, the operators' rule (Appenzeller, Keslassy and
// McKeown, Sizing Router Buffers, SIGCOMM 2004, section 1). What comes beyond is not queued; that it is lost is left out.
inline constexpr double kRouterBuffer = 0.25;  // s

class LinkQueues {
 public:
  // A look at a queue, for the mean since.
  struct Look {
    double date = 0, sum = 0;  // B s until then
  };

  explicit LinkQueues(const std::vector<Link>& links) {
    for (const auto& link : links) queues_.push_back({.bandwidth = link.bandwidth.value});
  }

  // To none where the link is -1.
  void add(int link, double bytes, double now) {
    if (link < 0) return;
    Queue& queue = settle(link, now);
    queue.bytes = std::min(queue.bytes + bytes, queue.bandwidth * kRouterBuffer);
  }
  Look look(int link, double now) { return {now, settle(link, now).sum}; }
  // Seconds until all that was queued would have left, as a mean from that look until now.
  double wait(int link, const Look& since, double now) {
    const Queue& queue = settle(link, now);
    const double bytes = now > since.date ? (queue.sum - since.sum) / (now - since.date) : queue.bytes;
    return std::max(0.0, bytes) / queue.bandwidth;
  }

 private:
  struct Queue {
    double bandwidth = 0, bytes = 0, seen = 0;
    double sum = 0;  // of bytes over time
  };

  Queue& settle(int link, double now) {
    Queue& queue = queues_[static_cast<std::size_t>(link)];
    const double drained = std::min(now - queue.seen, queue.bytes / queue.bandwidth);  // s
    queue.sum += drained * (queue.bytes - queue.bandwidth * drained / 2);
    queue.bytes = std::max(0.0, queue.bytes - queue.bandwidth * (now - queue.seen));
    queue.seen = now;
    return queue;
  }

  std::vector<Queue> queues_;
};

}  // namespace slmsim
