#include "sim/engine/in_order.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sim/engine/capacity.h"
#include "sim/engine/slowdown.h"

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

  // Sends a transfer that is ready then; false where nothing would let it go.
  bool send(double ready, double bytes, double& start, double& finish) {
    start = std::max(ready, free_);
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
      for (const auto& [delay, acked] : sender_->left(piece, now - begun)) add({now + std::max(0.0, delay), acked});
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
  std::optional<TcpSender> sender_;
  std::vector<Ack> acks_;  // from next_ack_ on, by date
  std::size_t next_ack_ = 0;
};

// How a connection begins.
struct Beginning {
  const Connection* connection = nullptr;
  const Capacity* capacity = nullptr;
  ConnectionState before;

  Line line() const { return {*connection, *capacity, before}; }
  bool is_like(const Beginning& other) const {
    const Route &a = connection->route, &b = other.connection->route;
    return connection->sockets == other.connection->sockets && capacity->most == other.capacity->most &&
           capacity->single == other.capacity->single && a.latency == b.latency && a.windowed == b.windowed &&
           a.window == b.window && before == other.before;
  }
};

// A line for all connections that begin alike and are given the same transfers at the same times, as those of a ring over
// equal VMs often are.
struct SharedLine {
  struct Sent {
    double ready = 0, bytes = 0, start = 0, finish = 0;
  };

  const Beginning& beginning;
  Line line = beginning.line();
  std::size_t members = 1;
  std::vector<Sent> sent;  // while there are several members
  std::optional<ConnectionState> state;
};

class Lane {
 public:
  explicit Lane(std::shared_ptr<SharedLine> line) : line_(std::move(line)) {}

  // False where a transfer might have to overtake, or nothing would let it go.
  bool send(const Release& release, double bytes, double& start, double& finish) {
    const bool together = release.time == last_.time && release.by == last_.by && release.by != kNobody;
    if (release.time <= last_.time && !together) return false;
    last_ = release;
    if (at_ < line_->sent.size()) {
      const auto& known = line_->sent[at_];
      if (known.ready == release.time && known.bytes == bytes) {
        start = known.start;
        finish = known.finish;
        ++at_;
        return true;
      }
      part();
    }
    if (!line_->line.send(release.time, bytes, start, finish)) return false;
    if (line_->members > 1) {
      line_->sent.push_back({release.time, bytes, start, finish});
      ++at_;
    }
    return true;
  }

  ConnectionState state(Seconds end) {
    if (at_ < line_->sent.size()) part();
    if (!line_->state) line_->state = line_->line.state(end);
    return *line_->state;
  }

 private:
  // Goes on with a line of its own from where it is.
  void part() {
    --line_->members;
    const auto common = std::exchange(line_, std::make_shared<SharedLine>(SharedLine{line_->beginning}));
    double start = 0, finish = 0;
    for (std::size_t i = 0; i < at_; ++i) line_->line.send(common->sent[i].ready, common->sent[i].bytes, start, finish);
    at_ = 0;
  }

  std::shared_ptr<SharedLine> line_;
  std::size_t at_ = 0;  // of line_->sent
  Release last_{-1, kNobody};
};

std::vector<Lane> lanes_of(const std::vector<Beginning>& beginnings) {
  constexpr std::size_t kLookedAt = 8;  // of the lines so far, the last ones: equal connections are near each other
  std::vector<Lane> lanes;
  std::vector<std::shared_ptr<SharedLine>> lines;
  for (const Beginning& beginning : beginnings) {
    const auto until = lines.rbegin() + static_cast<long>(std::min(lines.size(), kLookedAt));
    const auto alike =
        std::find_if(lines.rbegin(), until, [&](const auto& line) { return line->beginning.is_like(beginning); });
    if (alike == until) {
      lines.push_back(std::make_shared<SharedLine>(SharedLine{beginning}));
      lanes.emplace_back(lines.back());
    } else {
      ++(*alike)->members;
      lanes.emplace_back(*alike);
    }
  }
  return lanes;
}

// Where NCCL's kernels hold multiprocessors: when a computation ends, and what waits for it but transfers, is looked at as
// late as can be, when a transfer or a kernel waits for it. By then the kernels that go on beside it have been added.
class Later {
 public:
  Later(const TaskGraph& graph, Timeline& timeline)
      : graph_(graph),
        timeline_(timeline),
        holds_(graph.is_held() ? static_cast<std::size_t>(graph.device_count()) : 0) {}

  // False where this holds for one that has been looked at.
  bool hold(const Task& task, double time) {
    return holds_[static_cast<std::size_t>(task.place)].happen(time,
                                                               task.kind == TaskKind::kHold ? task.times : -task.times);
  }
  bool takes(TaskId id, const Task& task) {
    if (holds_.empty() || (task.kind != TaskKind::kCompute && task.kind != TaskKind::kDelay)) return false;
    timeline_.finish[id] = kLater;
    return true;
  }
  double end_of(TaskId id) {
    if (timeline_.finish[id] == kLater) look_at(id);
    return timeline_.finish[id];
  }

 private:
  static constexpr double kLater = -1;

  void look_at(TaskId wanted) {
    open_.assign(1, wanted);
    while (!open_.empty()) {
      const TaskId id = open_.back();
      const std::size_t count = open_.size();
      double start = 0;
      for (const TaskId before : graph_.predecessors(id)) {
        const double time = timeline_.finish[before];
        if (time == kLater) open_.push_back(before);
        start = std::max(start, time);
      }
      if (open_.size() > count) continue;
      open_.pop_back();
      if (timeline_.finish[id] != kLater) continue;
      timeline_.start[id] = start;
      timeline_.finish[id] = end_from(start, id);
    }
  }

  double end_from(double start, TaskId id) {
    const Task& task = graph_.tasks()[id];
    if (task.amount <= 0) return start;
    const int multiprocessors = task.kind == TaskKind::kCompute ? graph_.multiprocessors(task.place) : 0;
    const double bound = multiprocessors > 0 ? graph_.work(id).bound : 0;
    if (bound <= 0) return start + task.amount;
    return holds_[static_cast<std::size_t>(task.place)].finish(start, task.amount, bound, multiprocessors);
  }

  const TaskGraph& graph_;
  Timeline& timeline_;
  std::vector<KnownHolds> holds_;
  std::vector<TaskId> open_;
};

}  // namespace

std::optional<Timeline> simulate_in_order(const TaskGraph& graph, const std::vector<ConnectionState>& before) {
  const auto limits = capacities(graph);
  std::vector<Beginning> beginnings;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!limits[i].contended.empty() || !limits[i].back.empty()) return std::nullopt;
    beginnings.push_back({&graph.connections()[i], &limits[i], i < before.size() ? before[i] : ConnectionState{}});
  }
  std::vector<Lane> lanes = lanes_of(beginnings);
  const auto& tasks = graph.tasks();
  Timeline out;
  out.start.resize(tasks.size());
  out.finish.resize(tasks.size());
  Later later(graph, out);
  for (TaskId id = 0; id < tasks.size(); ++id) {
    const Task& task = tasks[id];
    if (later.takes(id, task)) continue;
    Release release;
    for (const TaskId before_it : graph.predecessors(id)) {
      const double time = later.end_of(before_it);
      if (release.by == kStart || time > release.time) {
        release = {time, before_it};
      } else if (time == release.time && before_it != release.by) {
        release.by = kNobody;
      }
    }
    if (task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) {
      if (!later.hold(task, release.time)) return std::nullopt;
      out.start[id] = out.finish[id] = release.time;
    } else if (task.kind != TaskKind::kTransfer) {
      out.start[id] = release.time;
      out.finish[id] = task.amount > 0 ? release.time + task.amount : release.time;
    } else {
      Lane& lane = lanes[static_cast<std::size_t>(task.place)];
      double first = 0;
      for (int i = 0; i < task.times; ++i, release = {out.finish[id], id}) {
        if (!lane.send(release, task.amount, out.start[id], out.finish[id])) return std::nullopt;
        first = i == 0 ? out.start[id] : first;
      }
      out.start[id] = first;
    }
  }
  for (TaskId id = 0; id < tasks.size(); ++id) out.end = std::max(out.end, Seconds{later.end_of(id)});
  for (auto& lane : lanes) out.connections.push_back(lane.state(out.end));
  return out;
}

}  // namespace slmsim
