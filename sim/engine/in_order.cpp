#include "sim/engine/in_order.h"

#include <algorithm>
#include <optional>

#include "sim/engine/line.h"
#include "sim/engine/slowdown.h"

namespace slmsim {
namespace {

// Of tasks that one task releases, and those that wait for it and for others, the first that was added starts first. Other
// tasks that are released together may start in any order.
bool starts_after(const Release& last, const Release& release, const TaskGraph& graph,
                  const std::vector<double>& finish) {
  if (release.time != last.time) return release.time > last.time;
  if (last.by != Release::By::kOne) return last.by == Release::By::kStart && release.by == last.by;
  const auto ties = [&](TaskId by) {
    if (finish[by] != release.time) return false;
    if (graph.tasks()[last.task].times > 1) return by == last.task;
    return std::ranges::count(graph.predecessors(last.task), by) > 0;
  };
  return std::ranges::any_of(graph.predecessors(release.task), ties);
}

// With holds of multiprocessors, the end of a computation and its dependents other than transfers are evaluated as late
// as possible, when a transfer or a kernel needs them. By then all concurrent kernels have been added.
class DeferredTasks {
 public:
  DeferredTasks(const TaskGraph& graph, std::vector<double>& start, std::vector<double>& finish)
      : graph_(graph),
        start_(start),
        finish_(finish),
        bounds_(graph.is_held() ? graph.bounds() : std::vector<double>{}),
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
    const double bound = multiprocessors > 0 ? bounds_[id] : 0;
    if (bound <= 0) return start + task.amount;
    return holds_[task.place].finish(start, task.amount, bound, multiprocessors);
  }

  const TaskGraph& graph_;
  std::vector<double>&start_, &finish_;
  std::vector<double> bounds_;  // per task
  std::vector<KnownHolds> holds_;
  std::vector<TaskId> open_;
};

}  // namespace

InOrder::InOrder(const TaskGraph& graph) : graph_(graph), limits_(capacities(graph)) {
  holds_ = std::all_of(limits_.begin(), limits_.end(),
                       [](const Capacity& limit) { return limit.contended.empty() && limit.back.empty(); });
  start_.resize(graph.tasks().size());
  finish_.resize(graph.tasks().size());
}

bool InOrder::run(const std::vector<ConnectionState>& before, bool flows) {
  if (!holds_) return false;
  flows_.clear();
  std::vector<Line> lines;
  lines.reserve(limits_.size());
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const ConnectionState state = i < before.size() ? before[i] : ConnectionState{};
    lines.emplace_back(graph_.connections()[i], limits_[i], state, static_cast<int>(i), flows ? &flows_ : nullptr);
  }
  DeferredTasks later(graph_, start_, finish_);
  for (TaskId id = 0; id < graph_.tasks().size(); ++id) {
    const Task& task = graph_.tasks()[id];
    if (later.takes(id, task.kind)) continue;
    Release release{.task = id};
    TaskId latest = kNoTask;
    for (const TaskId by : graph_.predecessors(id)) {
      const double time = later.end_of(by);
      if (latest == kNoTask || time > release.time) {
        release.time = time;
        release.by = Release::By::kOne;
        latest = by;
      } else if (time == release.time && by != latest) {
        release.by = Release::By::kSeveral;
      }
    }
    if (task.kind == TaskKind::kTransfer) {
      if (!send(lines[task.place], release, task)) return false;
    } else if (task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) {
      if (!later.hold(task.place, task.kind == TaskKind::kHold ? task.times : -task.times, release.time)) return false;
      start_[id] = finish_[id] = release.time;
    } else {
      start_[id] = release.time;
      finish_[id] = task.amount > 0 ? release.time + task.amount : release.time;
    }
  }
  end_ = Seconds{0};
  for (TaskId id = 0; id < graph_.tasks().size(); ++id) end_ = std::max(end_, Seconds{later.end_of(id)});
  connections_.clear();
  for (Line& line : lines) connections_.push_back(line.state(end_));
  return true;
}

bool InOrder::send(Line& line, Release release, const Task& task) {
  double &start = start_[release.task], &finish = finish_[release.task];
  if (!starts_after(line.last(), release, graph_, finish_) || !line.send(release, task.amount, start, finish))
    return false;
  const double first = start;
  for (int more = 1; more < task.times; ++more) {
    // Each after the one before, of which only the first may have been released by others.
    if (finish < line.last().time || (finish == line.last().time && more == 1)) return false;
    release = {.time = finish, .by = Release::By::kOne, .task = release.task};
    if (!line.send(release, task.amount, start, finish)) return false;
  }
  start = first;
  return true;
}

Timeline InOrder::timeline() const {
  return {.end = end_, .start = start_, .finish = finish_, .flows = flows_, .connections = connections_};
}

}  // namespace slmsim
