#include "sim/engine/in_order.h"

#include <algorithm>
#include <cmath>

#include "sim/engine/capacity.h"

namespace slmsim {
namespace {

struct Ack {
  double date = 0, bytes = 0;
};

// When a task becomes ready and which task's end makes it so. What one task makes ready starts in the order in which it
// was added.
constexpr TaskId kStart = kNoTask - 1, kNobody = kNoTask;  // nothing to wait for; several that end together
struct Release {
  double time = 0;
  TaskId by = kStart;
};

// A connection up to the last transfer that it was given.
class Line {
 public:
  Line(const Connection& connection, const Capacity& capacity, const ConnectionState& before)
      : most_(capacity.most), latency_(connection.route.latency.value) {
    if (!connection.route.windowed) return;
    double on_the_way = 0;
    for (const auto& late : before.on_the_way) {
      on_the_way += late.bytes;
      add({late.due.value, late.bytes});
    }
    if (before.tcp.window > 0) last_sent_ = -before.idle.value;
    sender_.emplace(connection.route.window, connection.sockets, capacity.single, before.tcp, on_the_way);
  }

  // Sends a transfer that is ready then; false where it might have to overtake, or nothing would let it go.
  bool send(const Release& release, double bytes, double& start, double& finish) {
    const bool together = release.time == last_.time && release.by == last_.by && release.by != kNobody;
    if (release.time <= last_.time && !together) return false;
    last_ = release;
    start = std::max(release.time, free_);
    double now = start;
    if (sender_ && bytes > 0) {
      settle(now);
      sender_->resume(now - last_sent_);
    }
    for (double left = bytes; left > 0;) {
      const double piece = sender_ ? sender_->take(left) : left;
      if (piece <= 0) {
        if (next_ack_ == acks_.size()) return false;
        const Ack ack = acks_[next_ack_++];
        now = ack.date;
        sender_->acknowledged(ack.bytes, now);
        continue;
      }
      const double begun = now;
      now += piece / most_;
      left -= piece;
      last_sent_ = now;
      if (!sender_) continue;
      settle(now);
      for (const auto& [delay, acked] : sender_->left(piece, now - begun)) add({now + delay, acked});
    }
    free_ = now;
    finish = latency_ > 0 ? now + latency_ : now;
    return true;
  }

  ConnectionState state(Seconds end) {
    if (!sender_ || !std::isfinite(last_sent_)) return {};
    settle(end.value);
    ConnectionState out{sender_->state(end.value), end - Seconds{last_sent_}, {}};
    for (; next_ack_ < acks_.size(); ++next_ack_)
      out.on_the_way.push_back({Seconds{acks_[next_ack_].date} - end, acks_[next_ack_].bytes});
    return out;
  }

 private:
  // What happens at the same time as a flow's end or a transfer's begin comes after it.
  void settle(double now) {
    for (; next_ack_ < acks_.size() && acks_[next_ack_].date < now; ++next_ack_)
      sender_->acknowledged(acks_[next_ack_].bytes, acks_[next_ack_].date);
    if (next_ack_ == acks_.size()) {
      acks_.clear();
      next_ack_ = 0;
    }
  }

  void add(const Ack& ack) {
    auto at = acks_.end();
    while (at != acks_.begin() + static_cast<long>(next_ack_) && std::prev(at)->date > ack.date) --at;
    acks_.insert(at, ack);
  }

  double most_ = 0, latency_ = 0;
  double free_ = 0, last_sent_ = -INFINITY;
  Release last_{-1, kNobody};
  std::optional<TcpSender> sender_;
  std::vector<Ack> acks_;  // from next_ack_ on, by date
  std::size_t next_ack_ = 0;
};

}  // namespace

std::optional<Timeline> simulate_in_order(const TaskGraph& graph, const std::vector<ConnectionState>& before) {
  const auto limits = capacities(graph);
  std::vector<Line> lines;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!limits[i].contended.empty() || limits[i].back >= 0) return std::nullopt;
    lines.emplace_back(graph.connections()[i], limits[i], i < before.size() ? before[i] : ConnectionState{});
  }
  const auto& tasks = graph.tasks();
  Timeline out;
  out.start.resize(tasks.size());
  out.finish.resize(tasks.size());
  for (TaskId id = 0; id < tasks.size(); ++id) {
    Release release;
    for (const TaskId before_it : graph.predecessors(id)) {
      const double time = out.finish[before_it];
      if (release.by == kStart || time > release.time) {
        release = {time, before_it};
      } else if (time == release.time && before_it != release.by) {
        release.by = kNobody;
      }
    }
    const Task& task = tasks[id];
    if (task.kind != TaskKind::kTransfer) {
      out.start[id] = release.time;
      out.finish[id] = task.amount > 0 ? release.time + task.amount : release.time;
    } else if (!lines[static_cast<std::size_t>(task.place)].send(release, task.amount, out.start[id], out.finish[id])) {
      return std::nullopt;
    }
  }
  for (const double time : out.finish) out.end = std::max(out.end, Seconds{time});
  for (auto& line : lines) out.connections.push_back(line.state(out.end));
  return out;
}

}  // namespace slmsim
