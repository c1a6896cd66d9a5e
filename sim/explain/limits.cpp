#include "sim/explain/limits.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/predict/iterations.h"

namespace slmsim {
namespace {

constexpr double kLeast = 0.01;     // share of an iteration: limits that give back less are not listed
constexpr double kHidden = 0.1;     // share of an iteration: given back by a pair beyond both alone
constexpr double kAccounted = 0.1;  // share of an iteration: may remain unexplained
constexpr double kSlack = 0.02;     // relative: faster links may slow a simulation by this much through other ties
constexpr double kWeighs = 0.02;    // share of an iteration: below it, with all others ideal, nothing is hidden

class LimitSearch {
 public:
  LimitSearch(const Scenario& scenario, const Transformer& model, const Prediction& prediction,
              const std::function<void(std::size_t)>& on_progress)
      : prediction_(prediction), on_progress_(on_progress), runs_(scenario, model, *prediction.plan) {
    const IterationTimes times = simulate_iterations(runs_.graph());
    iteration_ = runs_.with({});  // with lossy links two graphs of one plan differ by chance
    out_.left = iteration_;
    out_.latencies = latencies_of(runs_.graph(), times.last, critical_path(runs_.graph(), times.last));
  }

  Limits found(bool in_depth) && {
    singles();
    if (in_depth) {
      wholes();
      pairs();
      in_turn();
    }
    return std::move(out_);
  }

 private:
  bool counts(Seconds given_back) const { return given_back > iteration_ * kLeast; }
  void prepare(const std::vector<Ideals>& sets) {
    runs_.prepare(sets);
    if (on_progress_) on_progress_(runs_.count());
  }
  Seconds given_back(const Ideals& ideals) { return iteration_ - runs_.with(ideals); }

  const Ideal* find(const std::string& name) const {
    const auto& all = runs_.ideals();
    const auto at = std::ranges::find_if(all, [&](const Ideal& one) { return one.name == name; });
    return at == all.end() ? nullptr : &*at;
  }

  // The pipeline's bubble is no resource; its number is that of the breakdown.
  void singles() {
    // A whole precedes its parts: parts of a whole that gives nothing back are not tried.
    std::vector<std::string> idle;
    std::vector<Ideals> alone;
    for (const Ideal& ideal : runs_.ideals()) {
      if (ideal.whole.empty() && !ideal.without_latency) alone.push_back({&ideal});
    }
    prepare(alone);
    for (const Ideal& ideal : runs_.ideals()) {
      const bool hopeless = std::ranges::find(idle, ideal.whole) != idle.end();
      const Seconds back = hopeless ? Seconds{0} : ideal.without_latency ? latency(ideal) : given_back({&ideal});
      alone_.push_back(back);
      if (!counts(back)) {
        idle.push_back(ideal.name);
        continue;
      }
      out_.single.push_back({ideal.name, described(ideal), back});
    }
    for (const Ideal& ideal : runs_.ideals()) {
      if (ideal.only_together && any_part_told(ideal.name))
        std::erase_if(out_.single, [&](const Limit& limit) { return limit.name == ideal.name; });
    }
    if (const Seconds bubble = prediction_.breakdown.pipeline_bubble; counts(bubble))
      out_.single.push_back({"bubble", "no stage waits for another, as with infinitely many micro-batches", bubble});
    std::ranges::stable_sort(out_.single, [](const Limit& a, const Limit& b) { return a.given_back > b.given_back; });
  }

  std::string described(const Ideal& ideal) const {
    if (!ideal.without_latency) return ideal.what;
    const PathLatencies& l = out_.latencies;
    return fmt::format("{}, beside the window ({} latencies between VMs and {} inside on the critical path: {})",
                       ideal.what, l.between_vms, l.inside_vms, to_text(l.sum));
  }

  bool any_part_told(const std::string& whole) const {
    return std::ranges::any_of(out_.single, [&](const Limit& limit) {
      const Ideal* ideal = find(limit.name);
      return ideal && ideal->whole == whole;
    });
  }

  // A window that waits for acknowledgements hides the latency of messages, so both are removed.
  Seconds latency(const Ideal& ideal) {
    const Ideal* window = find("window");
    return window ? runs_.with({window}) - runs_.with({window, &ideal}) : given_back({&ideal});
  }

  // Resources that take time even with all others ideal: only they can hide another, or be the rest.
  void wholes() {
    Ideals all;
    std::vector<Seconds> alone;
    for (std::size_t i = 0; i < runs_.ideals().size(); ++i) {
      if (!runs_.ideals()[i].whole.empty()) continue;
      all.push_back(&runs_.ideals()[i]);
      alone.push_back(alone_[i]);
    }
    std::vector<Ideals> but_for_one(all.size(), all);
    for (std::size_t i = 0; i < all.size(); ++i)
      but_for_one[i].erase(but_for_one[i].begin() + static_cast<std::ptrdiff_t>(i));
    prepare(but_for_one);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Seconds own = runs_.with(but_for_one[i]);
      own_.emplace_back(all[i], own);
      if (own < iteration_ * kWeighs) continue;
      wholes_.push_back(all[i]);
      wholes_alone_.push_back(alone[i]);
    }
  }

  // Lower bound of an iteration without these: the time of the slowest of the others by itself.
  Seconds least_without(const Ideals& ideals) const {
    Seconds least{0};
    for (const auto& [one, own] : own_) {
      if (std::ranges::find(ideals, one) == ideals.end()) least = std::max(least, own);
    }
    return least;
  }

  // Time that two give back together beyond both alone. One whose removal costs time, as a faster link may, counts as zero: the
  // pair must beat the better one.
  Seconds hidden(std::size_t a, std::size_t b, Seconds together) const {
    return together - std::max(Seconds{0}, wholes_alone_[a]) - std::max(Seconds{0}, wholes_alone_[b]);
  }

  // Whether two may hide each other: the lower bound of the rest leaves enough to give back.
  bool may_hide(std::size_t a, std::size_t b) const {
    // Windows depend on the same distance: latency's own number is listed beside them.
    if (wholes_[a]->without_latency || wholes_[b]->without_latency) return false;
    const Seconds most = iteration_ * (1 + kSlack) - least_without({wholes_[a], wholes_[b]});
    return hidden(a, b, most) >= iteration_ * kHidden;
  }

  void pairs() {
    std::vector<Ideals> both;
    for (std::size_t a = 0; a < wholes_.size(); ++a) {
      for (std::size_t b = a + 1; b < wholes_.size(); ++b) {
        if (may_hide(a, b)) both.push_back({wholes_[a], wholes_[b]});
      }
    }
    prepare(both);
    for (std::size_t a = 0; a < wholes_.size(); ++a) {
      for (std::size_t b = a + 1; b < wholes_.size(); ++b) {
        if (!may_hide(a, b)) continue;
        const Seconds together = given_back({wholes_[a], wholes_[b]});
        if (hidden(a, b, together) >= iteration_ * kHidden)
          out_.pairs.push_back({wholes_[a]->name, wholes_[b]->name, wholes_alone_[a], wholes_alone_[b], together});
      }
    }
    std::ranges::stable_sort(out_.pairs,
                             [](const LimitPair& a, const LimitPair& b) { return a.together > b.together; });
  }

  void in_turn() {
    Ideals without, rest = wholes_;
    while (!rest.empty() && out_.left > iteration_ * kAccounted) {
      Ideals best;
      Seconds least = out_.left;
      const auto with_also = [&](const Ideals& more) {
        Ideals all = without;
        all.insert(all.end(), more.begin(), more.end());
        return all;
      };
      const auto try_also = [&](const Ideals& more) {
        if (const Seconds takes = runs_.with(with_also(more)); takes < least) least = takes, best = more;
      };
      // The one with the lowest bound goes first; those that cannot beat the best are not simulated.
      const auto bound = [&](const Ideal* one) { return least_without(with_also({one})); };
      const Ideal* first =
          *std::ranges::min_element(rest, [&](const Ideal* x, const Ideal* y) { return bound(x) < bound(y); });
      const Seconds known = std::min(least, runs_.with(with_also({first})));
      std::vector<Ideals> next;
      Ideals tried;
      for (const Ideal* one : rest) {
        if (one != first && bound(one) > known * (1 + kSlack)) continue;
        tried.push_back(one);
        next.push_back(with_also({one}));
      }
      prepare(next);
      for (const Ideal* one : tried) try_also({one});
      if (!counts(out_.left - least)) {
        std::vector<Ideals> two;
        for (std::size_t a = 0; a < rest.size(); ++a) {
          for (std::size_t b = a + 1; b < rest.size(); ++b) {
            const Seconds at_least = least_without(with_also({rest[a], rest[b]}));
            if (at_least <= (out_.left - iteration_ * kLeast) * (1 + kSlack)) two.push_back({rest[a], rest[b]});
          }
        }
        next.clear();
        for (const Ideals& pair : two) next.push_back(with_also(pair));
        prepare(next);
        for (const Ideals& pair : two) try_also(pair);
      }
      if (!counts(out_.left - least)) break;
      CumulativeLimit step{.names = {}, .given_back = out_.left - least};
      for (const Ideal* one : best) {
        step.names.push_back(one->name);
        without.push_back(one);
        std::erase(rest, one);
      }
      out_.in_turn.push_back(std::move(step));
      out_.left = least;
    }
  }

  const Prediction& prediction_;
  const std::function<void(std::size_t)>& on_progress_;
  IdealRuns runs_;
  Seconds iteration_;
  std::vector<Seconds> alone_;  // per ideal
  Ideals wholes_;
  std::vector<Seconds> wholes_alone_;
  std::vector<std::pair<const Ideal*, Seconds>> own_;  // for each whole: an iteration with all others ideal
  Limits out_;
};

constexpr double kRounding = 1e-9;

bool is_transfer(const TaskGraph& graph, TaskId id) { return graph.tasks()[id].kind == TaskKind::kTransfer; }

// Preceding transfer on the same connection; kNoTask for the first.
std::vector<TaskId> earlier_on_connection(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<std::vector<TaskId>> of(graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (is_transfer(graph, id)) of[graph.tasks()[id].place].push_back(id);
  }
  std::vector<TaskId> earlier(graph.tasks().size(), kNoTask);
  for (auto& transfers : of) {
    std::ranges::stable_sort(transfers, [&](TaskId a, TaskId b) { return timeline.start[a] < timeline.start[b]; });
    for (std::size_t i = 1; i < transfers.size(); ++i) earlier[transfers[i]] = transfers[i - 1];
  }
  return earlier;
}

}  // namespace

Limits find_limits(const Scenario& scenario, const Transformer& model, const Prediction& prediction, bool in_depth,
                   const std::function<void(std::size_t)>& on_progress) {
  return LimitSearch(scenario, model, prediction, on_progress).found(in_depth);
}

std::vector<TaskId> critical_path(const TaskGraph& graph, const Timeline& timeline) {
  if (graph.tasks().empty()) return {};
  const auto earlier = earlier_on_connection(graph, timeline);
  TaskId at = 0;
  for (TaskId id = 1; id < graph.tasks().size(); ++id) {
    if (timeline.finish[id] >= timeline.finish[at]) at = id;  // a join ends with the last task it joins
  }
  std::vector<TaskId> path = {at};
  while (true) {
    TaskId before = kNoTask;
    for (const TaskId p : graph.predecessors(at)) {
      if (before == kNoTask || timeline.finish[p] > timeline.finish[before]) before = p;
    }
    const double ready = before == kNoTask ? 0.0 : timeline.finish[before];
    const bool queued = earlier[at] != kNoTask && timeline.start[at] > ready + kRounding;
    if (queued) before = earlier[at];
    if (before == kNoTask) break;
    path.push_back(at = before);
  }
  std::ranges::reverse(path);
  return path;
}

PathLatencies latencies_of(const TaskGraph& graph, const Timeline& timeline, const std::vector<TaskId>& path) {
  PathLatencies out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Task& task = graph.tasks()[path[i]];
    if (graph.is_latency(task)) out.sum += Seconds{task.amount};
    if (task.kind != TaskKind::kTransfer) continue;
    // A transfer that queued behind this one did not wait for its arrival.
    if (i + 1 < path.size() && timeline.start[path[i + 1]] < timeline.finish[path[i]] - kRounding) continue;
    const Route& route = graph.connections()[task.place].route;
    if (route.latency <= Seconds{0}) continue;
    ++(route.socket_rate.value > 0 ? out.between_vms : out.inside_vms);
    out.sum += route.latency;
  }
  return out;
}

}  // namespace slmsim
