// How long what comes to a full link waits behind the bytes that senders have put there.
//
// Bytes queue before a link while they come to it faster than it carries them. Where the other direction is as full,
// acknowledgements follow its data and come late and together ("ACK-compression": Zhang, Shenker and Clark, SIGCOMM 1991). One
// acknowledgement here stands for those of a piece, which come one after the other: at s into it one comes back at
// due + s + wait(s). What leaves at their heels, at s for each byte, need not stop if it begins at the most of due + wait(s).
//
// A queue is a fluid: d bytes / dt = sum of the rates at which pieces come - bandwidth, between nothing and what a router keeps.
// Seconds, and bytes.
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

// What a router keeps of bytes that wait: as much as its link carries in 250 ms, the operators' rule (Appenzeller, Keslassy and
// McKeown, Sizing Router Buffers, SIGCOMM 2004, section 1). What comes beyond is not queued; that it is lost is left out.
inline constexpr double kRouterBuffer = 0.25;  // s

class LinkQueues {
 public:
  // Looks may be as old as `kept`, in seconds.
  LinkQueues(const std::vector<Link>& links, double kept) : kept_(kept) {
    for (const auto& link : links) queues_.push_back({.bandwidth = link.bandwidth.value, .points = {{}}, .ends = {}});
  }

  // Bytes that come to a link at that rate from now on, which may be infinite.
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

  // Seconds until all that is queued would have left, one link after the other: the most between two dates, which may be one,
  // and of which none is to come.
  double wait(const std::vector<int>& links, double from, double until) {
    double wait = 0;
    for (const int link : links) {
      const Queue& queue = settle(link, until);
      wait += queue.most_between(from, until) / queue.bandwidth;
    }
    return wait;
  }

  // When acknowledgements are back that come to the links between these two dates, and would be back at `due` by themselves. Those
  // that wait behind the same bytes are back together, as date + wait is constant while a queue drains: to the nanosecond, so that
  // their order does not hang on the last digit.
  double back(const std::vector<int>& links, double from, double until, double due) {
    constexpr double kTick = 1e-9;  // s
    const double time = wait(links, from, until);
    return time > 0 ? std::round((due + time) / kTick) * kTick : due;
  }

 private:
  using End = std::pair<double, double>;  // when a piece has come, and how fast it came
  // A rate at which bytes come begins, with what is queued then.
  struct Point {
    double date = 0, inflow = 0, bytes = 0;
  };
  struct Queue {
    double bandwidth = 0;
    std::deque<Point> points;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;

    double most() const { return bandwidth * kRouterBuffer; }

    // Nothing waits, and nothing will until more comes.
    bool is_idle(const Point& point) const { return point.bytes <= 0 && point.inflow <= bandwidth; }

    // The first point after a date; mostly it is asked for now.
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
      // Of two idle ones in a row the first says all.
      if (points.size() > 1 && is_idle(points.back()) && is_idle(*std::prev(points.end(), 2))) points.pop_back();
      points.push_back(point);
    }
  };

  Queue& settle(int link, double now) {
    Queue& queue = queues_[static_cast<std::size_t>(link)];
    while (!queue.ends.empty() && queue.ends.top().first <= now) {
      Point point = queue.at(queue.ends.top().first);
      point.inflow -= queue.ends.top().second;
      queue.ends.pop();
      if (queue.ends.empty()) point.inflow = 0;  // rates do not add up to the last digit
      queue.turn(point);
    }
    while (queue.points.size() > 1 && queue.points[1].date < now - kept_) queue.points.pop_front();
    return queue;
  }

  double kept_ = 0;
  std::vector<Queue> queues_;
};

}  // namespace slmsim
