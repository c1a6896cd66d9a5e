#include "sim/engine/in_order.h"

#include <algorithm>
#include <optional>

#include "sim/engine/line.h"
#include "sim/engine/slowdown.h"

namespace slmsim {
namespace {

bool begin_alike(const Connection& a, const Capacity& x, const Connection& b, const Capacity& y) {
  return a.sockets == b.sockets && x.most == y.most && x.single == y.single && a.route.latency == b.route.latency &&
         a.route.windowed == b.route.windowed && a.route.window == b.route.window;
}

const ConnectionState& state_of(const std::vector<ConnectionState>& before, std::size_t connection) {
  static const ConnectionState kNew;
  return connection < before.size() ? before[connection] : kNew;
}

// Gives connections with equal initial state equal numbers.
std::vector<int> alike_connections(const TaskGraph& graph, const std::vector<Capacity>& limits,
                                   const std::vector<ConnectionState>& before) {
  constexpr std::size_t kLookedAt = 8;  // recent numbers to compare with: equal connections are near each other
  std::vector<int> out;
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto until = firsts.rbegin() + static_cast<long>(std::min(firsts.size(), kLookedAt));
    const auto alike = std::find_if(firsts.rbegin(), until, [&](std::size_t first) {
      return begin_alike(graph.connections()[first], limits[first], graph.connections()[i], limits[i]) &&
             state_of(before, first) == state_of(before, i);
    });
    out.push_back(static_cast<int>(alike == until ? firsts.size() : firsts.rend() - alike - 1));
    if (alike == until) firsts.push_back(i);
  }
  return out;
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

InOrder::InOrder(const TaskGraph& graph, SameTimes* known)
    : graph_(graph), limits_(capacities(graph)), same_(known ? *known : own_) {
  holds_ = std::all_of(limits_.begin(), limits_.end(),
                       [](const Capacity& limit) { return limit.contended.empty() && limit.back.empty(); });
}

// Whether connections of one line begin equal.
bool InOrder::is_known(const std::vector<ConnectionState>& before) const {
  if (same_.line_of.size() != limits_.size()) return false;
  std::vector<std::size_t> first(static_cast<std::size_t>(same_.lines), limits_.size());
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    std::size_t& known = first[same_.line_of[i]];
    known = std::min(known, i);
    if (!begin_alike(graph_.connections()[known], limits_[known], graph_.connections()[i], limits_[i]) ||
        state_of(before, known) != state_of(before, i))
      return false;
  }
  return !steps_.empty() || are_alike(graph_, same_);
}

void InOrder::number(const std::vector<ConnectionState>& before) {
  const bool known = is_known(before);
  if (known && !steps_.empty()) return;
  if (!known) {
    // Searching for equal tasks takes as long as one or two passes over them; it pays off where iterations differ.
    same_ = has_windows(limits_) && !graph_.is_held() ? same_times(graph_, alike_connections(graph_, limits_, before))
                                                      : each_by_itself(graph_);
  }
  steps_.clear();
  for (std::size_t i = 0; i < same_.first.size(); ++i) {
    const Task& task = graph_.tasks()[same_.first[i]];
    const bool sent = task.kind == TaskKind::kTransfer;
    const std::int32_t place = sent ? same_.line_of[task.place] : task.place;
    steps_.push_back({task.amount, same_.begin[i], place, task.times, task.kind});
  }
  start_.resize(steps_.size());
  finish_.resize(steps_.size());
}

bool InOrder::run(const std::vector<ConnectionState>& before, bool flows) {
  if (!holds_) return false;
  number(before);
  flows_.clear();
  std::vector<std::optional<Line>> lines(static_cast<std::size_t>(same_.lines));
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    auto& line = lines[same_.line_of[i]];
    if (!line)
      line.emplace(graph_.connections()[i], limits_[i], state_of(before, i), same_.line_of[i],
                   flows ? &flows_ : nullptr);
  }
  DeferredTasks later(graph_, start_, finish_);
  end_ = Seconds{0};
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (later.takes(i, step.kind)) continue;
    Release release;
    const std::uint32_t end = same_.begin[i + 1];
    for (std::uint32_t b = step.begin; b < end; ++b) {
      const SameTimes::Predecessor& one = same_.before[b];
      const double time = later.end_of(one.step);
      if (release.by == Release::By::kStart || time > release.time) {
        release = {time, one.several ? Release::By::kSeveral : Release::By::kOne, one.tied};
      } else if (time == release.time) {
        release = {time, Release::By::kSeveral, release.tied || one.tied};
      }
    }
    if (step.kind == TaskKind::kTransfer) {
      Line& line = *lines[step.place];
      if (!line.send(release, step.amount, start_[i], finish_[i])) return false;
      const double first = start_[i];
      for (int more = 1; more < step.times; ++more) {
        release = {finish_[i], Release::By::kOne, more > 1};
        if (!line.send(release, step.amount, start_[i], finish_[i])) return false;
      }
      start_[i] = first;
    } else if (step.kind == TaskKind::kHold || step.kind == TaskKind::kRelease) {
      if (!later.hold(step.place, step.kind == TaskKind::kHold ? step.times : -step.times, release.time)) return false;
      start_[i] = finish_[i] = release.time;
    } else {
      start_[i] = release.time;
      finish_[i] = step.amount > 0 ? release.time + step.amount : release.time;
    }
  }
  for (std::uint32_t i = 0; i < steps_.size(); ++i) end_ = std::max(end_, Seconds{later.end_of(i)});
  std::vector<ConnectionState> states;
  states.reserve(lines.size());
  for (auto& line : lines) states.push_back(line->state(end_));
  connections_.clear();
  for (const int line : same_.line_of) connections_.push_back(states[line]);
  return true;
}

Timeline InOrder::timeline() const {
  Timeline out;
  out.end = end_;
  out.connections = connections_;
  std::vector<std::vector<int>> carried(static_cast<std::size_t>(same_.lines));  // connections of each line
  for (std::size_t i = 0; i < same_.line_of.size(); ++i) carried[same_.line_of[i]].push_back(static_cast<int>(i));
  for (const Flow& flow : flows_) {
    for (const int connection : carried[flow.connection]) {
      out.flows.push_back(flow);
      out.flows.back().connection = connection;
    }
  }
  if (same_.step_of.empty()) {
    out.start = start_;
    out.finish = finish_;
    return out;
  }
  out.start.reserve(same_.step_of.size());
  out.finish.reserve(same_.step_of.size());
  for (const std::uint32_t step : same_.step_of) {
    out.start.push_back(start_[step]);
    out.finish.push_back(finish_[step]);
  }
  return out;
}

}  // namespace slmsim
