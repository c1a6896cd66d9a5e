#include "sim/engine/same_times.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "sim/base/hash.h"
#include "sim/engine/hash_places.h"

namespace slmsim {
namespace {

constexpr std::uint32_t kNothing = ~std::uint32_t{0};

enum class Merge { kAlike, kNever };

// Numbers tasks, assuming that connections of one line carry the same transfers.
class Numbering {
 public:
  Numbering(const TaskGraph& graph, Merge merge) : graph_(graph), merge_(merge) {
    if (merge == Merge::kAlike) out_.step_of.reserve(graph.tasks().size());
    place_.resize(graph.tasks().size());
  }

  SameTimes number(std::vector<int> line_of, int lines) {
    out_.line_of = std::move(line_of);
    out_.lines = lines;
    last_.assign(out_.line_of.size(), kNoTask);
    for (TaskId task = 0; task < graph_.tasks().size(); ++task) {
      const std::uint32_t step = step_of(task);
      if (merge_ == Merge::kAlike) out_.step_of.push_back(step);
    }
    out_.begin.push_back(static_cast<std::uint32_t>(out_.before.size()));
    return std::move(out_);
  }

  // The last transfer of each connection; kNoTask: it has none.
  const std::vector<TaskId>& last() const { return last_; }

 private:
  std::uint32_t step_of(TaskId task) {
    const Task& one = graph_.tasks()[task];
    const auto begin = static_cast<std::uint32_t>(out_.before.size());
    const auto next = static_cast<std::uint32_t>(out_.first.size());
    gather(task, one.kind == TaskKind::kTransfer ? last_[one.place] : kNoTask);
    const std::uint32_t carried = one.kind == TaskKind::kTransfer ? carried_before(task) : kNothing;
    const std::uint32_t step = merge_ == Merge::kAlike ? like(one, carried, begin, next) : next;
    if (step != next) {
      out_.before.resize(begin);
      return step;
    }
    out_.first.push_back(task);
    out_.begin.push_back(begin);
    return step;
  }

  // The step of an equal task, or `next`. A transfer can only equal those that follow the same step on their connections.
  std::uint32_t like(const Task& one, std::uint32_t carried, std::uint32_t begin, std::uint32_t next) {
    const auto is = [&](std::uint32_t other) { return is_like(other, one, carried, begin); };
    std::uint32_t step = next;
    if (carried < next) {
      std::uint32_t* other = &followed_[carried];
      while (*other != kNothing && !is(*other)) other = &beside_[*other];
      if (*other == kNothing) *other = next;
      step = *other;
    } else {
      step = places_.find_or_add(hash_of(one, carried, begin), next, is);
    }
    if (step != next) return step;
    carried_.push_back(carried);
    followed_.push_back(kNothing);
    beside_.push_back(kNothing);
    return next;
  }

  // Collects the steps before a task, each once. `last`: the transfer before it on its connection.
  void gather(TaskId task, TaskId last) {
    const std::size_t begin = out_.before.size();
    gathered_.clear();
    for (const TaskId by : graph_.predecessors(task)) {
      const std::uint32_t step = merge_ == Merge::kAlike ? out_.step_of[by] : by;
      std::uint32_t& place = place_[step];
      const std::size_t known = place - begin;
      const bool tied = last != kNoTask && is_tied(by, last);
      if (known < gathered_.size() && out_.before[place].step == step) {
        if (gathered_[known] != by) out_.before[place] = {step, true, tied || out_.before[place].tied};
      } else {
        place = static_cast<std::uint32_t>(out_.before.size());
        out_.before.push_back({step, false, tied});
        gathered_.push_back(by);
      }
    }
  }

  bool is_tied(TaskId by, TaskId last) const {
    if (graph_.tasks()[last].times > 1) return by == last;
    const auto its = graph_.predecessors(last);
    return std::find(its.begin(), its.end(), by) != its.end();
  }

  // The step before it on its connection or, for a first one, its line.
  std::uint32_t carried_before(TaskId task) {
    const auto connection = static_cast<std::size_t>(graph_.tasks()[task].place);
    const TaskId last = std::exchange(last_[connection], task);
    if (merge_ == Merge::kNever) return kNothing;
    return last == kNoTask ? ~static_cast<std::uint32_t>(out_.line_of[connection]) - 1 : out_.step_of[last];
  }

  bool is_like(std::uint32_t step, const Task& one, std::uint32_t carried, std::uint32_t begin) const {
    const Task& other = graph_.tasks()[out_.first[step]];
    if (one.kind != other.kind || one.amount != other.amount || one.times != other.times || carried != carried_[step])
      return false;
    const auto begins = out_.before.begin();
    const std::uint32_t end = step + 1 < out_.begin.size() ? out_.begin[step + 1] : begin;
    return std::equal(begins + out_.begin[step], begins + end, begins + begin, out_.before.end());
  }

  std::uint32_t hash_of(const Task& one, std::uint32_t carried, std::uint32_t begin) const {
    std::uint64_t hash = SplitMix64::mixed(std::bit_cast<std::uint64_t>(one.amount) + carried);
    for (std::uint32_t i = begin; i < out_.before.size(); ++i) hash = SplitMix64::mixed(hash + out_.before[i].step);
    return static_cast<std::uint32_t>(hash);
  }

  const TaskGraph& graph_;
  Merge merge_;
  SameTimes out_;
  std::vector<std::uint32_t> carried_;   // per step
  std::vector<std::uint32_t> followed_;  // per step: the first one that follows it on a connection
  std::vector<std::uint32_t> beside_;    // per step: the next one that follows the same
  std::vector<TaskId> last_;             // per connection
  std::vector<std::uint32_t> place_;     // per step: its position in out_.before when last gathered
  std::vector<TaskId> gathered_;         // predecessors of a task, one per step
  HashPlaces places_;
};

}  // namespace

SameTimes same_times(const TaskGraph& graph, const std::vector<int>& alike) {
  std::vector<int> line_of = alike;
  int lines = alike.empty() ? 0 : 1 + *std::max_element(alike.begin(), alike.end());
  for (;;) {
    Numbering numbering(graph, Merge::kAlike);
    SameTimes out = numbering.number(line_of, lines);
    // Splits lines whose connections carry different transfers.
    std::map<std::pair<int, std::uint32_t>, int> known;
    for (std::size_t i = 0; i < line_of.size(); ++i) {
      const TaskId last = numbering.last()[i];
      const std::pair key{line_of[i], last == kNoTask ? kNothing : out.step_of[last]};
      line_of[i] = known.try_emplace(key, static_cast<int>(known.size())).first->second;
    }
    if (static_cast<int>(known.size()) <= lines) return out;
    lines = static_cast<int>(known.size());
  }
}

bool are_alike(const TaskGraph& graph, const SameTimes& known) {
  const auto& tasks = graph.tasks();
  if (known.step_of.size() != tasks.size()) return false;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].amount != tasks[known.first[known.step_of[i]]].amount) return false;
  }
  return true;
}

SameTimes each_by_itself(const TaskGraph& graph) {
  std::vector<int> line_of(graph.connections().size());
  std::iota(line_of.begin(), line_of.end(), 0);
  return Numbering(graph, Merge::kNever).number(line_of, static_cast<int>(line_of.size()));
}

}  // namespace slmsim
