#include "sim/predict/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "sim/predict/passages.h"

namespace slmsim {
namespace {

constexpr double kRounding = 1e-9;

struct TimeRange {
  double start, finish;
};

std::vector<TimeRange> merged(std::vector<TimeRange> intervals) {
  const auto merge = [&] {
    std::size_t count = 0;
    for (const TimeRange next : intervals) {
      TimeRange* last = count > 0 ? &intervals[count - 1] : nullptr;
      if (last && last->start <= next.start && next.start <= last->finish) {
        last->finish = std::max(last->finish, next.finish);
      } else {
        intervals[count++] = next;
      }
    }
    intervals.resize(count);
  };
  const auto before = [](const TimeRange& a, const TimeRange& b) { return a.start < b.start; };
  merge();  // most follow one another, which leaves less to sort
  if (!std::is_sorted(intervals.begin(), intervals.end(), before)) {
    std::sort(intervals.begin(), intervals.end(), before);
    merge();
  }
  return intervals;
}

double length_of(const std::vector<TimeRange>& all, const Repetition& again) {
  double sum = 0;
  for (const auto& one : all) sum += again.time(one.start, one.finish);
  return sum;
}

// Length of the intersection of both lists; each is merged and sorted.
double overlap(const std::vector<TimeRange>& a, const std::vector<TimeRange>& b, const Repetition& again) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double start = std::max(a[i].start, b[j].start), finish = std::min(a[i].finish, b[j].finish);
    if (finish > start) sum += again.time(start, finish);
    (a[i].finish < b[j].finish ? i : j)++;
  }
  return sum;
}

// Length of the first list outside the second; rounding leaves no less than nothing.
double length_outside(const std::vector<TimeRange>& all, const std::vector<TimeRange>& other, const Repetition& again) {
  return std::max(0.0, length_of(all, again) - overlap(all, other, again));
}

// Length of the list, merged and sorted, up to a time at which all that takes place again has been inserted.
double length_until(const std::vector<TimeRange>& all, double time, const Repetition& again) {
  const auto until = [&](double end) { return overlap(all, {{-INFINITY, end}}, {}); };
  const double first_end = again.from + again.length, beyond = time - first_end;
  if (again.count <= 0 || beyond <= 0) return until(time);
  const double each = until(first_end) - until(again.from), rounds = std::floor(beyond / again.length);
  if (rounds >= again.count) return until(time - again.more()) + each * again.count;
  return until(first_end) + each * rounds + until(again.from + beyond - rounds * again.length) - until(again.from);
}

// Times up to the end that these, merged and sorted, leave out.
std::vector<TimeRange> between(const std::vector<TimeRange>& all, double end) {
  std::vector<TimeRange> out;
  double from = 0;
  for (const TimeRange& one : all) {
    if (one.start > from) out.push_back({from, one.start});
    from = std::max(from, one.finish);
  }
  if (end > from) out.push_back({from, end});
  return out;
}

// Computations of other devices, merged and sorted, without those that meet none of these times.
std::vector<TimeRange> computed_by_others(const TaskGraph& graph, const Timeline& timeline, int device,
                                          const std::vector<TimeRange>& idle) {
  std::vector<TimeRange> out;
  const auto add = [&](double start, double finish) {
    const auto at = std::upper_bound(idle.begin(), idle.end(), start,
                                     [](double time, const TimeRange& range) { return time < range.finish; });
    if (at != idle.end() && at->start < finish) out.push_back({start, finish});
  };
  auto passage = graph.passages().begin();
  for (std::size_t id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (passage != graph.passages().end() && passage->task == id) {
      const Passage& one = *passage++;
      if (one.device == device) continue;
      const PassageBegin begin = begin_of(one, timeline);
      for (const Inside::Span& span : one.inside->computing) {
        const double start = span.start(begin.gpu, begin.host);
        add(start, start + span.length);
      }
    } else if (task.kind == TaskKind::kCompute && task.place != device) {
      add(timeline.start[id], timeline.finish[id]);
    }
  }
  return merged(std::move(out));
}

// Sorts what consists of a few sorted parts, as the flows of one connection after another: merging is cheaper than sorting.
void sort_parts(std::vector<std::pair<double, double>>& all) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] < all[i - 1]) ends.push_back(i);
  }
  ends.push_back(all.size());
  constexpr std::size_t kLeast = 64;  // mean length of a part
  if (ends.size() * kLeast > all.size()) return std::sort(all.begin(), all.end());
  const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  while (ends.size() > 1) {
    std::vector<std::size_t> fewer;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t end = ends[std::min(i + 1, ends.size() - 1)];
      if (end > ends[i]) std::inplace_merge(at(begin), at(ends[i]), at(end));
      fewer.push_back(end);
      begin = end;
    }
    ends = std::move(fewer);
  }
}

// The least rate at or below which it was for that long in all; the greatest one where all lasted less. Selects as
// std::nth_element does, because sorting takes most of the time of many short flows.
double reached(std::vector<std::pair<double, double>>& rates, double time) {
  auto first = rates.begin(), last = rates.end();
  while (last - first > 1) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    const double below =
        std::accumulate(first, middle, 0.0, [](double sum, const auto& rate) { return sum + rate.second; });
    if (below < time) {
      time -= below;
      first = middle;
    } else {
      last = middle;
    }
  }
  return rates.empty() ? 0 : first->first;
}

// When a device is occupied, and with what.
struct Occupation {
  std::vector<TimeRange> computing, transferring, host_optimizer, launching;
};

// Adds its computations up in `parts`.
Occupation occupation_of(const TaskGraph& graph, const Timeline& timeline, int device, const Repetition& again,
                         Breakdown& parts) {
  Occupation out;
  auto passage = graph.passages().begin();
  std::vector<RepeatedSteps> repeated;  // by this device
  std::ranges::copy_if(graph.repeated_steps(), std::back_inserter(repeated),
                       [&](const RepeatedSteps& steps) { return steps.device == device; });
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    const TimeRange when{timeline.start[id], timeline.finish[id]};
    if (std::ranges::find(repeated, id, &RepeatedSteps::task) != repeated.end()) continue;
    // Adds when it takes place; where launching may be hidden behind it, that of repeated steps too.
    const auto add_to = [&](std::vector<TimeRange>& ranges) {
      ranges.push_back(when);
      for (const RepeatedSteps& steps : repeated) {
        const double each = step_length(steps, timeline);
        for (int i = 1; i <= steps.times && steps.launching != kNoTask && steps.repeats(id); ++i)
          ranges.push_back({when.start + i * each, when.finish + i * each});
      }
    };
    if (passage != graph.passages().end() && passage->task == id) {
      const Passage& one = *passage++;
      if (one.device != device) continue;
      const PassageBegin begin = begin_of(one, timeline);
      const auto add = [&](std::vector<TimeRange>& ranges, const Inside::Span& span) {
        const double start = span.start(begin.gpu, begin.host);
        ranges.push_back({start, start + span.length});
        return Seconds{again.time(start, start + span.length)};
      };
      for (const Inside::Span& span : one.inside->computing) parts.compute += add(out.computing, span);
      for (const Inside::Span& span : one.inside->transferring) add(out.transferring, span);
    } else if (task.kind == TaskKind::kCompute && task.place == device) {
      const TaskClass of = graph.tag_of(task).of;
      const bool overhead = of == TaskClass::kLaunch || of == TaskClass::kFramework;
      Seconds& part = of == TaskClass::kOptimizer ? parts.optimizer : overhead ? parts.overhead : parts.compute;
      // NCCL's kernels may have slowed it.
      const double took = when.finish - when.start, all = again.time(when.start, when.finish);
      const Seconds once{took > task.amount * (1 + kRounding) ? all : all - took + task.amount};
      part += once;
      for (const RepeatedSteps& steps : repeated) part += once * (steps.repeats(id) ? steps.times : 0);
      add_to(out.computing);
    } else if (task.kind == TaskKind::kDelay && task.place == device) {
      out.launching.push_back(when);
    } else if (task.kind == TaskKind::kTransfer) {
      const Connection& connection = graph.connections()[task.place];
      if (!connection.joins(device)) continue;
      add_to(connection.traffic == Traffic::kHostOptimizer ? out.host_optimizer : out.transferring);
    }
  }
  return out;
}

}  // namespace

std::vector<double> computing_times(const TaskGraph& graph) {
  std::vector<double> busy(static_cast<std::size_t>(graph.device_count()), 0.0);
  for (const auto& task : graph.tasks()) {
    if (task.kind == TaskKind::kCompute) busy[task.place] += task.amount;
  }
  for (const Passage& one : graph.passages()) {
    const Task& task = graph.tasks()[one.task];
    if (task.kind == TaskKind::kCompute) busy[task.place] -= task.amount;
    busy[one.device] += one.inside->computed;
  }
  for (const RepeatedSteps& steps : graph.repeated_steps()) {
    const auto computed_by = [&](TaskId id) {
      const Task& task = graph.tasks()[id];
      return task.kind == TaskKind::kCompute && task.place == steps.device ? task.amount : 0;
    };
    busy[steps.device] -= computed_by(steps.task);
    for (TaskId id = steps.begin + 1; id <= steps.end; ++id) busy[steps.device] += computed_by(id) * steps.times;
  }
  return busy;
}

int slowest_device(const std::vector<double>& computing) {
  const double most = *std::max_element(computing.begin(), computing.end()) * (1 - kRounding);
  const auto first = std::find_if(computing.begin(), computing.end(), [&](double time) { return time >= most; });
  return static_cast<int>(first - computing.begin());
}

std::vector<RateStep> rate_steps(std::vector<std::pair<double, double>> changes) {
  sort_parts(changes);
  std::vector<RateStep> steps;
  double rate = 0, peak = 0;
  for (const auto& [time, change] : changes) {
    rate += change;
    if (rate < peak * kRounding) rate = 0;  // rounding left by adding and removing the same rates
    peak = std::max(peak, rate);
    if (steps.empty() || time > steps.back().time) steps.push_back({time, rate});
    steps.back().rate = rate;
  }
  return steps;
}

LinkUse use_of_steps(const std::string& name, Bytes bytes, const std::vector<RateStep>& steps, Seconds whole,
                     const Repetition& again) {
  const double end = whole.value + again.more();
  std::vector<std::pair<double, double>> rates;  // rate and its duration
  double peak = 0, since = 0, rate = 0;
  for (const auto& step : steps) {
    if (step.time > since) rates.emplace_back(rate, again.time(since, step.time));
    since = std::max(since, step.time);
    rate = step.rate;
    peak = std::max(peak, rate);
  }
  if (whole.value > since) rates.emplace_back(0.0, again.time(since, whole.value));
  return {name, bytes, BytesPerSecond{end > 0 ? bytes.value / end : 0}, BytesPerSecond{reached(rates, 0.9 * end)},
          BytesPerSecond{peak}};
}

std::optional<std::pair<double, double>> launching_time(const TaskGraph& graph, const Timeline& timeline, int device) {
  std::vector<TimeRange> launching;
  for (std::size_t id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind == TaskKind::kDelay && task.place == device)
      launching.push_back({timeline.start[id], timeline.finish[id]});
  }
  launching = merged(std::move(launching));
  if (launching.size() != 1) return std::nullopt;
  return std::pair{launching.front().start, launching.front().finish};
}

Breakdown break_down(const TaskGraph& graph, const Timeline& timeline, bool pipeline, int device,
                     const Repetition& again, std::optional<double> launched) {
  Breakdown result;
  const Seconds end = timeline.end + Seconds{again.more()};
  auto [computing, transferring, host_optimizer, launching] = occupation_of(graph, timeline, device, again, result);
  // Waiting for the host to launch kernels, and for neither a message nor the host's Adam, is overhead.
  if (!launching.empty()) {
    launching = merged(std::move(launching));
    std::vector<TimeRange> other = computing;
    other.insert(other.end(), transferring.begin(), transferring.end());
    other.insert(other.end(), host_optimizer.begin(), host_optimizer.end());
    other = merged(std::move(other));
    if (launched) {
      const double begin = launching.front().start;
      const double hidden = length_until(other, begin + *launched, again) - length_until(other, begin, again);
      result.overhead += Seconds{std::max(0.0, *launched - hidden)};
    } else {
      result.overhead += Seconds{length_outside(launching, other, again)};
    }
  }
  // Waiting for the host's Adam counts as optimizer time.
  if (!host_optimizer.empty()) {
    computing = merged(std::move(computing));
    host_optimizer = merged(std::move(host_optimizer));
    result.optimizer += Seconds{length_outside(host_optimizer, computing, again)};
  }
  // Rounding may leave less than nothing on a GPU that never waits.
  const Seconds waiting = std::max(Seconds{0}, end - result.compute - result.optimizer - result.overhead);
  if (!pipeline) {
    result.exposed_communication = waiting;
    return result;
  }
  transferring.insert(transferring.end(), computing.begin(), computing.end());
  const auto idle = between(merged(std::move(transferring)), timeline.end.value);
  result.pipeline_bubble =
      std::min(waiting, Seconds{overlap(idle, computed_by_others(graph, timeline, device, idle), again)});
  result.exposed_communication = waiting - result.pipeline_bubble;
  // Rounding left by sums of many events is no bubble.
  if (result.pipeline_bubble < end * kRounding) {
    result.exposed_communication = waiting;
    result.pipeline_bubble = Seconds{0};
  }
  return result;
}

void wait_instead(Breakdown& parts, Seconds more) {
  const Seconds waits = parts.exposed_communication + parts.pipeline_bubble;
  if (waits <= Seconds{0} && more >= Seconds{0}) {
    parts.exposed_communication += more;
    return;
  }
  if (waits + more < Seconds{0}) {
    // Waiting for the host counts as overhead; and NCCL's kernels slow computing down.
    const Seconds lacking = waits + more + parts.overhead;
    parts.overhead = std::max(Seconds{0}, lacking);
    parts.compute += std::min(Seconds{0}, lacking);
  }
  const double factor = waits > Seconds{0} ? std::max(0.0, (waits + more) / waits) : 0;
  parts.exposed_communication = parts.exposed_communication * factor;
  parts.pipeline_bubble = parts.pipeline_bubble * factor;
}

}  // namespace slmsim
