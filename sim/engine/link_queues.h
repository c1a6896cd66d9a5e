// Waiting time of traffic that arrives at a full link behind the bytes queued there.
//
// Bytes queue before a link while they arrive faster than it carries them. Where the other direction is full too,
// acknowledgements follow its data and arrive late and in bursts ("ACK-compression": Zhang, Shenker and Clark, SIGCOMM
// 1991). One acknowledgement here stands for all those of a piece, which arrive in sequence: at s into it one returns
// at due + s + wait(s). Data clocked by them, at s for each byte, can be sent without a break if it begins at the
// maximum of due + wait(s).
//
// A queue is a fluid: d bytes / dt = sum of the arrival rates of pieces - bandwidth, between zero and a router's
// buffer. Units: seconds and bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <queue>
#include <utility>
#include <vector>

#include "sim/platform/network.h"

namespace slmsim {

// A router's buffer: the bytes that its link carries in 250 ms, the operators' rule (Appenzeller, Keslassy and McKeown,
// Sizing Router Buffers, SIGCOMM 2004, section 1). Excess bytes are not queued; their loss is not modelled.
inline constexpr double kRouterBuffer = 0.25;  // s

class LinkQueues {
 public:
  // Queries may refer to dates up to `kept` seconds ago.
  LinkQueues(const std::vector<Link>& links, double kept) : kept_(kept) {
    for (const auto& link : links) queues_.push_back({.bandwidth = link.bandwidth.value, .points = {{}}, .ends = {}});
  }

  // Bytes that arrive at a link at this rate (may be infinite) from now on.
  void add(int link, double bytes, double rate, double now) {
    Queue& queue = settle(link, now);
    Point point = queue.at(now);
    if (std::isfinite(rate)) {
      point.inflow += rate;
      queue.ends.emplace(now + bytes / rate, rate);
    } else {
      point.bytes = std::min(point.bytes + bytes, queue.most());
    }
    queue.turn(point);
  }

  // Seconds until the queues of all these links, one after the other, would have drained: the maximum between two
  // dates, which may be equal and must not be in the future.
  double wait(const std::vector<int>& links, double from, double until) {
    double wait = 0;
    for (const int link : links) {
      const Queue& queue = settle(link, until);
      wait += queue.most_between(from, until) / queue.bandwidth;
    }
    return wait;
  }

  // Return date of acknowledgements that arrive at the links between these two dates, and would return at `due` without
  // queues. Those behind the same bytes return together, since date + wait is constant while a queue drains; dates are
  // rounded to the nanosecond, so that the order does not depend on rounding errors.
  double back(const std::vector<int>& links, double from, double until, double due) {
    constexpr double kTick = 1e-9;  // s
    const double time = wait(links, from, until);
    return time > 0 ? std::round((due + time) / kTick) * kTick : due;
  }

 private:
  using End = std::pair<double, double>;  // the end of a piece's arrival, and its rate
  // Start of an arrival rate, with the bytes queued then.
  struct Point {
    double date = 0, inflow = 0, bytes = 0;
  };
  struct Queue {
    double bandwidth = 0;
    std::deque<Point> points;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;

    double most() const { return bandwidth * kRouterBuffer; }

    // The queue is empty and stays so until the next arrival.
    bool is_idle(const Point& point) const { return point.bytes <= 0 && point.inflow <= bandwidth; }

    // The first point after a date; the date is usually the present.
    auto after(double date) const {
      if (points.back().date <= date) return points.end();
      return std::upper_bound(points.begin(), points.end(), date, [](double d, const Point& p) { return d < p.date; });
    }

    Point at(double date) const {
      const auto next = after(date);
      const Point& last = next == points.begin() ? points.front() : *std::prev(next);
      const double change = (last.inflow - bandwidth) * std::max(0.0, date - last.date);
      return {date, last.inflow, std::clamp(last.bytes + change, 0.0, most())};
    }

    double most_between(double from, double until) const {
      double out = std::max(at(from).bytes, at(until).bytes);
      for (auto point = after(from); point != points.end() && point->date < until; ++point)
        out = std::max(out, point->bytes);
      return out;
    }

    void turn(const Point& point) {
      if (points.back().date == point.date) points.pop_back();
      // The first of two consecutive idle points suffices.
      if (points.size() > 1 && is_idle(points.back()) && is_idle(*std::prev(points.end(), 2))) points.pop_back();
      points.push_back(point);
    }
  };

  Queue& settle(int link, double now) {
    Queue& queue = queues_[link];
    while (!queue.ends.empty() && queue.ends.top().first <= now) {
      Point point = queue.at(queue.ends.top().first);
      point.inflow -= queue.ends.top().second;
      queue.ends.pop();
      if (queue.ends.empty()) point.inflow = 0;  // sums of rates have rounding errors
      queue.turn(point);
    }
    while (queue.points.size() > 1 && queue.points[1].date < now - kept_) queue.points.pop_front();
    return queue;
  }

  double kept_ = 0;
  std::vector<Queue> queues_;
};

}  // namespace slmsim
