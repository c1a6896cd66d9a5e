#include "sim/engine/contraction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/capacity.h"

namespace slmsim {
namespace {

constexpr std::size_t kTimesFewer = 4;
constexpr std::size_t kMostPaths = 8;  // by trial: the fewest tasks in pipelines of pairs of GPUs

struct Path {
  TaskId from = kNoTask;  // kNoTask: the beginning
  double length = 0;      // s
};

// Paths from different tasks to one event, sorted by task; the event takes place after the last of them.
using Paths = std::vector<Path>;

Paths latest(const Paths& a, const Paths& b) {
  Paths out;
  out.reserve(a.size() + b.size());
  std::ranges::merge(a, b, std::back_inserter(out), {}, &Path::from, &Path::from);
  std::size_t count = 0;
  for (const Path& path : out) {
    if (count > 0 && out[count - 1].from == path.from) {
      out[count - 1].length = std::max(out[count - 1].length, path.length);
    } else {
      out[count++] = path;
    }
  }
  out.resize(count);
  return out;
}

Paths later(Paths paths, double time) {
  for (Path& path : paths) path.length += time;
  return paths;
}

bool is_kept(const Task& task, const std::vector<Capacity>& limits) {
  return task.kind == TaskKind::kTransfer && limits[task.place].windowed;
}

class Contraction {
 public:
  Contraction(const TaskGraph& graph, const Timeline& observed, const std::vector<Capacity>& limits)
      : graph_(graph),
        observed_(observed),
        limits_(limits),
        ends_(graph.tasks().size()),
        left_(limits.size()),
        out_(graph.without_tasks()),
        tag_(out_.tag({.name = "between"})) {}

  std::optional<TaskGraph> result() {
    std::vector<bool> followed(ends_.size());
    for (const TaskId id : in_order_of_time()) {
      add(id);
      for (const TaskId before : graph_.predecessors(id)) followed[before] = true;
      if (out_.tasks().size() * kTimesFewer > graph_.tasks().size()) return std::nullopt;
    }
    Paths last;
    for (TaskId id = 0; id < ends_.size(); ++id) {
      if (!followed[id]) last = both(last, ends_[id]);
    }
    tasks_of(last);
    return std::move(out_);
  }

 private:
  // Ties remain in the order of addition, in which no task waits for a later one.
  std::vector<TaskId> in_order_of_time() const {
    std::vector<TaskId> out(graph_.tasks().size());
    std::iota(out.begin(), out.end(), TaskId{0});
    std::ranges::stable_sort(out, {}, [&](TaskId id) { return observed_.start[id]; });
    return out;
  }

  void add(TaskId id) {
    const Task& task = graph_.tasks()[id];
    const bool sent = task.kind == TaskKind::kTransfer;
    Paths ready;
    for (const TaskId before : graph_.predecessors(id)) ready = both(ready, ends_[before]);
    if (is_kept(task, limits_)) {
      const TaskId kept = out_.transfer(task.place, Bytes{task.amount}, tag_, tasks_of(ready), task.times);
      const double least =
          task.amount / limits_[task.place].most + graph_.connections()[task.place].route.latency.value;
      not_before(kept, later(std::move(ready), task.times * least));
      ends_[id] = {{kept, 0}};
      return;
    }
    if (sent) ready = both(ready, left_[task.place]);
    if (ready.empty()) ready.push_back({});
    const double takes = observed_.finish[id] - observed_.start[id];
    if (sent) left_[task.place] = later(ready, takes - graph_.connections()[task.place].route.latency.value);
    ends_[id] = later(std::move(ready), takes);
  }

  // Too many paths meet at a task of their own.
  Paths both(const Paths& a, const Paths& b) {
    if (b.empty()) return a;
    Paths out = latest(a, b);
    if (out.size() <= kMostPaths) return out;
    const Paths all = out;
    std::erase_if(out, [&](const Path& path) { return never_decides(path, all); });
    return out.size() <= kMostPaths ? out : latest(joined(a), joined(b));
  }

  // Whether another of the paths goes on from one that leads from the same task to its beginning, and is as long with it.
  bool never_decides(const Path& path, const Paths& among) const {
    return std::ranges::any_of(among, [&](const Path& other) {
      if (other.from >= not_before_.size()) return false;
      const Paths& to_other = not_before_[other.from];
      const auto first = std::ranges::find(to_other, path.from, &Path::from);
      return first != to_other.end() && first->length + other.length >= path.length;
    });
  }

  void not_before(TaskId task, Paths paths) {
    not_before_.resize(task + 1);
    not_before_[task] = std::move(paths);
  }

  // Paths that differ from others by one constant share their task.
  Paths joined(const Paths& paths) {
    if (paths.size() < 2) return paths;
    const double least = std::ranges::min(paths, {}, &Path::length).length;
    const Paths rest = later(paths, -least);
    const auto [known, is_new] = joins_.try_emplace(key_of(rest));
    if (is_new) {
      known->second = out_.delay(Seconds{0}, tag_, tasks_of(rest));
      not_before(known->second, rest);
    }
    return {{known->second, least}};
  }

  // Tasks that end with the paths.
  std::vector<TaskId> tasks_of(const Paths& paths) {
    std::vector<TaskId> out;
    for (const Path& path : paths) {
      if (path.length <= 0) {
        out.push_back(path.from);
        continue;
      }
      const auto [known, is_new] = joins_.try_emplace(key_of({&path, 1}));
      if (is_new) known->second = out_.delay(Seconds{path.length}, tag_, {&path.from, 1});
      out.push_back(known->second);
    }
    return out;
  }

  // Sums of the same times in another order differ by less than a picosecond.
  using Key = std::vector<std::pair<TaskId, std::int64_t>>;
  static Key key_of(std::span<const Path> paths) {
    Key out;
    for (const Path& path : paths) out.emplace_back(path.from, std::llround(path.length * 1e12));
    return out;
  }

  const TaskGraph& graph_;
  const Timeline& observed_;
  const std::vector<Capacity>& limits_;
  std::vector<Paths> ends_;        // per task
  std::vector<Paths> left_;        // per connection: when its last byte has left
  std::vector<Paths> not_before_;  // per task of out_: it does not end before these
  TaskGraph out_;
  TagId tag_;
  std::map<Key, TaskId> joins_;
};

}  // namespace

std::optional<TaskGraph> contracted(const TaskGraph& graph, const Timeline& observed) {
  const std::vector<Capacity> limits = capacities(graph);
  const auto kept = std::ranges::count_if(graph.tasks(), [&](const Task& task) { return is_kept(task, limits); });
  if (static_cast<std::size_t>(kept) * kTimesFewer > graph.tasks().size()) return std::nullopt;
  return Contraction(graph, observed, limits).result();
}

}  // namespace slmsim
