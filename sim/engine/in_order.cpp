#include "sim/engine/in_order.h"

#include <algorithm>

#include "sim/engine/line.h"
#include "sim/engine/slowdown.h"

namespace slmsim {
namespace {

// With holds of multiprocessors, the end of a computation and its dependents other than transfers are evaluated as late
// as possible, when a transfer or a kernel needs them. By then all concurrent kernels have been added.
class DeferredTasks {
 public:
  DeferredTasks(const TaskGraph& graph, std::vector<double>& start, std::vector<double>& finish)
      : graph_(graph),
        start_(start),
        finish_(finish),
        holds_(graph.is_held() ? static_cast<std::size_t>(graph.device_count()) : 0) {}

  // False where the hold affects a computation that was already evaluated.
  bool hold(int device, int held, double time) { return holds_[device].happen(time, held); }
  bool takes(TaskId id, TaskKind kind) {
    if (holds_.empty() || (kind != TaskKind::kCompute && kind != TaskKind::kDelay)) return false;
    finish_[id] = kLater;
    return true;
  }
  double end_of(TaskId id) {
    if (finish_[id] == kLater) look_at(id);
    return finish_[id];
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
        const double time = finish_[before];
        if (time == kLater) open_.push_back(before);
        start = std::max(start, time);
      }
      if (open_.size() > count) continue;
      open_.pop_back();
      if (finish_[id] != kLater) continue;
      start_[id] = start;
      finish_[id] = end_from(start, id);
    }
  }

  double end_from(double start, TaskId id) {
    const Task& task = graph_.tasks()[id];
    if (task.amount <= 0) return start;
    const int multiprocessors = task.kind == TaskKind::kCompute ? graph_.multiprocessors(task.place) : 0;
    const double bound = multiprocessors > 0 ? graph_.work(id).bound : 0;
    if (bound <= 0) return start + task.amount;
    return holds_[task.place].finish(start, task.amount, bound, multiprocessors);
  }

  const TaskGraph& graph_;
  std::vector<double>&start_, &finish_;
  std::vector<KnownHolds> holds_;
  std::vector<TaskId> open_;
};

// The lines of a graph's connections, and the last task of each.
class Lines {
 public:
  Lines(const TaskGraph& graph, const std::vector<Capacity>& limits, const std::vector<ConnectionState>& before,
        std::vector<Flow>* flows)
      : graph_(graph), last_(limits.size(), kNoTask), records_flows_(flows != nullptr) {
    all_.reserve(limits.size());
    for (std::size_t i = 0; i < limits.size(); ++i)
      all_.emplace_back(graph.connections()[i], limits[i], i < before.size() ? before[i] : ConnectionState{},
                        static_cast<int>(i), flows);
  }

  bool send(TaskId id, Release release, double& start, double& finish, TaskId by) {
    const Task& task = graph_.tasks()[id];
    Line& line = all_[task.place];
    release.tied = line.needs_tie(release) && is_tied(by, task.place);
    last_[task.place] = id;
    if (!line.send(release, task.amount, start, finish)) return false;
    double next = 0;
    for (int more = 1; more < task.times; ++more) {
      release = {finish, Release::By::kOne, more > 1};
      if (!line.send(release, task.amount, next, finish)) return false;
    }
    return true;
  }

  // `ready`: when the ranks are; `finish`: when they have their results.
  bool send_around(TaskId id, const std::vector<double>& ready, double* finish, std::vector<RingSpan>& spans) {
    const RingCall& call = graph_.ring_calls()[graph_.tasks()[id].place];
    const std::size_t n = ready.size();
    const auto before = graph_.predecessors(id);
    begin_.clear();
    for (std::size_t rank = 0; rank < n; ++rank) {
      Release& release = begin_.emplace_back(ready[rank], Release::By::kOne);
      release.tied = line(call, rank).needs_tie(release) && is_tied(before[rank], call.connections[rank]);
    }
    for (const int connection : call.connections) last_[connection] = id;
    const std::size_t own = records_flows_ ? n : period(call);
    received_.resize(own);
    sent_.resize(own);
    spans_.resize(std::max(own, spans_.size()));
    for (std::size_t rank = 0; rank < own; ++rank) spans_[rank].clear();
    std::int64_t number = 0;
    for (std::int64_t piece = 0; piece < call.pieces; ++piece) {
      const double bytes = call.bytes_of(piece);
      for (int step = 0; step < call.steps; ++step, ++number) {
        for (std::size_t rank = 0; rank < own; ++rank) {
          double start = 0;
          if (!line(call, rank).send(release_of(number, rank, n), bytes, start, sent_[rank])) return false;
          add_span(spans_[rank], start, sent_[rank]);
        }
        for (std::size_t rank = 0; rank < own; ++rank) received_[rank] = sent_[(rank == 0 ? n - 1 : rank - 1) % own];
      }
      const auto& copies = piece + 1 < call.pieces ? call.copies : call.last_copies;
      for (std::size_t rank = 0; rank < own && !copies.empty(); ++rank) received_[rank] += copies[rank];
    }
    // In n-1 steps a rank receives data that started at its other neighbour, which does not imply that it was ready itself.
    const bool waits = call.steps < static_cast<int>(n);
    for (std::size_t rank = 0; rank < n; ++rank) {
      if (rank >= own) line(call, rank).follow(line(call, rank - own));
      finish[rank] = waits ? std::max(received_[rank % own], begin_[rank].time) : received_[rank % own];
      for (const RingSpan& span : spans_[rank % own])
        spans.push_back({call.connections[rank], span.start, span.finish});
    }
    return true;
  }

  std::vector<ConnectionState> states(Seconds end) {
    std::vector<ConnectionState> out;
    out.reserve(all_.size());
    for (Line& line : all_) out.push_back(line.state(end));
    return out;
  }

 private:
  Line& line(const RingCall& call, std::size_t rank) { return all_[call.connections[rank]]; }

  // The smallest number of ranks whose transfers all others repeat.
  std::size_t period(const RingCall& call) {
    const std::size_t n = call.connections.size();
    const auto is_like = [&](std::size_t a, std::size_t b) {
      return begin_[a].time == begin_[b].time && begin_[a].tied == begin_[b].tied &&
             (call.copies.empty() ||
              (call.copies[a] == call.copies[b] && call.last_copies[a] == call.last_copies[b])) &&
             line(call, a).is_like(line(call, b));
    };
    for (std::size_t period = 1; 2 * period <= n; ++period) {
      if (n % period != 0) continue;
      std::size_t rank = period;
      while (rank < n && is_like(rank, rank - period)) ++rank;
      if (rank == n) return period;
    }
    return n;
  }

  // A rank sends what it has received, and its first pieces when it is itself ready.
  Release release_of(std::int64_t number, std::size_t rank, std::size_t n) const {
    const Release& begin = begin_[rank];
    if (number == 0) return begin;
    Release out{received_[rank], Release::By::kOne};
    if (number >= static_cast<std::int64_t>(n)) return out;
    if (begin.time > out.time) return {begin.time, Release::By::kOne, true};
    if (begin.time == out.time) out.by = Release::By::kSeveral;
    return out;
  }

  static void add_span(std::vector<RingSpan>& spans, double start, double finish) {
    if (!spans.empty() && start <= spans.back().finish)
      spans.back().finish = std::max(spans.back().finish, finish);
    else
      spans.push_back({0, start, finish});
  }

  // Whether the last transfer of the connection waited for this task, or is it, if it is repeated.
  bool is_tied(TaskId by, int connection) const {
    const TaskId last = last_[connection];
    if (last == kNoTask) return false;
    const Task& task = graph_.tasks()[last];
    if (task.kind == TaskKind::kRing) {
      const RingCall& call = graph_.ring_calls()[task.place];
      const auto at = std::find(call.connections.begin(), call.connections.end(), connection);
      return call.ends_early() && graph_.predecessors(last)[static_cast<std::size_t>(at - call.connections.begin())] == by;
    }
    if (task.times > 1) return by == last;
    const auto its = graph_.predecessors(last);
    return std::find(its.begin(), its.end(), by) != its.end();
  }

  const TaskGraph& graph_;
  std::vector<Line> all_;
  std::vector<TaskId> last_;
  bool records_flows_;
  // Of a collective on a ring, per rank.
  std::vector<Release> begin_;
  std::vector<double> received_, sent_;
  std::vector<std::vector<RingSpan>> spans_;
};

}  // namespace

InOrder::InOrder(const TaskGraph& graph)
    : graph_(graph),
      limits_(capacities(graph)),
      holds_(std::all_of(limits_.begin(), limits_.end(),
                         [](const Capacity& limit) { return limit.contended.empty() && limit.back.empty(); })),
      start_(graph.tasks().size()),
      finish_(graph.tasks().size()) {}

bool InOrder::run(const std::vector<ConnectionState>& before, bool flows) {
  if (!holds_) return false;
  flows_.clear();
  spans_.clear();
  Lines lines(graph_, limits_, before, flows ? &flows_ : nullptr);
  DeferredTasks later(graph_, start_, finish_);
  end_ = Seconds{0};
  std::vector<double> ready;
  const auto& tasks = graph_.tasks();
  for (TaskId id = 0; id < tasks.size(); ++id) {
    const Task& task = tasks[id];
    if (later.takes(id, task.kind)) continue;
    if (task.kind == TaskKind::kRing) {
      ready.clear();
      for (const TaskId rank : graph_.predecessors(id)) ready.push_back(later.end_of(rank));
      const std::size_t n = ready.size();
      if (!lines.send_around(id, ready, &finish_[id + 1], spans_)) return false;
      for (std::size_t rank = 0; rank < n; ++rank) start_[id + 1 + rank] = finish_[id + 1 + rank];
      start_[id] = finish_[id] = *std::max_element(ready.begin(), ready.end());
      id += static_cast<TaskId>(n);
      continue;
    }
    Release release;
    TaskId by = kNoTask;
    for (const TaskId one : graph_.predecessors(id)) {
      const double time = later.end_of(one);
      if (by == kNoTask || time > release.time) {
        release = {time, Release::By::kOne};
        by = one;
      } else if (time == release.time && one != by) {
        release.by = Release::By::kSeveral;
      }
    }
    if (task.kind == TaskKind::kTransfer) {
      if (!lines.send(id, release, start_[id], finish_[id], by)) return false;
    } else if (task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) {
      if (!later.hold(task.place, task.kind == TaskKind::kHold ? task.times : -task.times, release.time)) return false;
      start_[id] = finish_[id] = release.time;
    } else {
      start_[id] = release.time;
      finish_[id] = task.amount > 0 ? release.time + task.amount : release.time;
    }
  }
  for (TaskId id = 0; id < tasks.size(); ++id) end_ = std::max(end_, Seconds{later.end_of(id)});
  connections_ = lines.states(end_);
  return true;
}

Timeline InOrder::timeline() const { return {end_, start_, finish_, flows_, connections_, spans_}; }

}  // namespace slmsim
