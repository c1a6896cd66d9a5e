#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/collective/nccl_rules.h"
#include "sim/predict/alike.h"
#include "sim/predict/iterations.h"
#include "sim/predict/measure.h"
#include "sim/predict/repeating.h"
#include "sim/search/bound.h"

namespace slmsim {
namespace {

constexpr double kNowhere = -std::numeric_limits<double>::infinity();

// The most that a connection carries.
struct RateLimit {
  double rate = std::numeric_limits<double>::infinity(), window = rate;
  double rtt = 0;

  RateLimit(const Connection& connection, const std::vector<Link>& links) : rate(most_rate(connection, links).value) {
    if (!connection.route.windowed || connection.route.window.steady.value <= 0) return;
    window = connection.route.window.steady.value * connection.sockets;
    rtt = connection.route.window.rtt.value;
  }
  double sending(double bytes) const {
    return std::max(bytes / rate, std::isfinite(window) ? (std::ceil(bytes / window) - 1) * rtt : 0.0);
  }
};

std::vector<RateLimit> limits_of(const TaskGraph& graph) {
  std::vector<RateLimit> out;
  for (const auto& connection : graph.connections()) out.emplace_back(connection, graph.links());
  return out;
}

// Lower bound of each task's time: a transfer alone on its path.
std::vector<double> least_times(const TaskGraph& graph) {
  const std::vector<RateLimit> limits = limits_of(graph);
  std::vector<double> out;
  out.reserve(graph.tasks().size());
  for (const Task& task : graph.tasks()) {
    if (task.kind != TaskKind::kTransfer) {
      out.push_back(task.amount);
      continue;
    }
    const double latency = graph.connections()[task.place].route.latency.value;
    out.push_back((limits[task.place].sending(task.amount) + latency) * task.times);
  }
  return out;
}

// Earliest end of each task, overall or after the end of one task; kNowhere where no path leads from that task to it.
std::vector<double> longest_ways(const TaskGraph& graph, const std::vector<double>& times,
                                 std::optional<TaskId> from = {}) {
  std::vector<double> out(times.size(), from ? kNowhere : 0);
  if (from) out[*from] = 0;
  for (TaskId task = from ? *from + 1 : 0; task < times.size(); ++task) {
    double& end = out[task];
    for (const TaskId before : graph.predecessors(task)) end = std::max(end, out[before]);
    end += times[task];
  }
  return out;
}

// Load of a link or a connection: the earliest start of its first transfer, and its bytes.
struct Load {
  double first = std::numeric_limits<double>::infinity(), bytes = 0;
};
// Links, then connections.
std::vector<Load> uses_of(const TaskGraph& graph, const std::vector<double>& times, const std::vector<double>& ends) {
  const std::size_t links = graph.links().size();
  std::vector<Load> out(links + graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind != TaskKind::kTransfer) continue;
    const auto add = [&](std::size_t place) {
      Load& use = out[place];
      use.first = std::min(use.first, ends[id] - times[id]);
      use.bytes += task.amount * task.times;
    };
    for (const int link : graph.connections()[task.place].route.links) add(static_cast<std::size_t>(link));
    add(links + static_cast<std::size_t>(task.place));
  }
  return out;
}

double end_of_loads(const TaskGraph& graph, const std::vector<Load>& uses) {
  const std::vector<RateLimit> limits = limits_of(graph);
  const std::size_t links = graph.links().size();
  double end = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].bytes <= 0) continue;
    const double sending =
        i < links ? uses[i].bytes / graph.links()[i].bandwidth.value : limits[i - links].sending(uses[i].bytes);
    end = std::max(end, uses[i].first + sending);
  }
  return end;
}

double last_of(const std::vector<double>& ends) {
  return ends.empty() ? 0.0 : std::max(0.0, *std::max_element(ends.begin(), ends.end()));
}

// Two tasks of a line, a number of rounds apart, from its middle on; nullopt where passes do not alternate there as in the
// whole, so that rounds are not contiguous, or where there are too few.
struct TaskPair {
  TaskId then = 0, now = 0;
};
std::optional<TaskPair> rounds_apart(const FewBatches& few, const FewBatches& more, std::size_t line,
                                     std::size_t rounds, std::size_t after_middle = 0) {
  const auto &a = few.lines[line], &b = more.lines[line];
  const std::size_t apart = (b.size() - std::min(a.size(), b.size())) * rounds;
  const std::size_t middle = (b.size() - std::min(apart, b.size())) / 2 + after_middle;
  if (apart == 0 || middle + apart >= b.size()) return std::nullopt;
  const auto first = b.begin() + static_cast<long>(middle), last = first + static_cast<long>(apart);
  const auto forward = [](const FewBatches& one, auto begin, auto end) {
    return static_cast<std::size_t>(std::count_if(
        begin, end, [&](TaskId id) { return one.graph().tag_of(one.graph().tasks()[id]).pass == Pass::kForward; }));
  };
  if (forward(more, first, last) + rounds * forward(few, a.begin(), a.end()) !=
      rounds * forward(more, b.begin(), b.end()))
    return std::nullopt;
  const Task &then = more.graph().tasks()[*first], &now = more.graph().tasks()[*last];
  if (then.amount != now.amount || more.graph().tag_of(then).pass != more.graph().tag_of(now).pass) return std::nullopt;
  return TaskPair{*first, *last};
}

// The streams that compute longest in a round, and the lines with most tasks on the critical path.
std::vector<std::size_t> lines_to_look_at(const FewBatches& few, const FewBatches& more,
                                          const std::vector<double>& times, const std::vector<double>& ends) {
  constexpr std::size_t kOfWay = 4, kOfStreams = 2;  // each costs one pass over all tasks
  const TaskGraph& graph = more.graph();
  std::map<std::size_t, double> on_way;
  auto task = static_cast<TaskId>(std::max_element(ends.begin(), ends.end()) - ends.begin());
  for (bool begins = false; !begins;) {
    if (const auto line = more.line_of(task)) on_way[*line] += times[task];
    const auto before = graph.predecessors(task);
    begins = before.empty();
    if (!begins)
      task = *std::max_element(before.begin(), before.end(), [&](auto a, auto b) { return ends[a] < ends[b]; });
  }
  std::vector<std::size_t> out;
  const auto take = [&](std::vector<std::pair<double, std::size_t>> by_length, std::size_t most) {
    std::sort(by_length.rbegin(), by_length.rend());
    for (const auto& [length, line] : by_length) {
      if (most == 0) break;
      if (std::find(out.begin(), out.end(), line) != out.end() || !rounds_apart(few, more, line, 1)) continue;
      out.push_back(line);
      --most;
    }
  };
  std::vector<std::pair<double, std::size_t>> ways, streams;
  for (const auto& [line, length] : on_way) ways.emplace_back(length, line);
  const std::vector<double> a = computing_times(few.graph()), b = computing_times(graph);
  for (std::size_t device = 0; device < more.devices(); ++device) streams.emplace_back(b[device] - a[device], device);
  take(std::move(streams), kOfStreams);
  if (!out.empty()) take(std::move(ways), kOfWay);  // else passes alternate nowhere (GPipe)
  return out;
}

}  // namespace

Seconds least_end(const TaskGraph& graph) {
  const auto times = least_times(graph), ends = longest_ways(graph, times);
  return Seconds{std::max(last_of(ends), end_of_loads(graph, uses_of(graph, times, ends)))};
}

LeastIteration least_iteration(const LowerRequest& request) {
  // Enough that a pipeline is full for as long as a micro-batch is in it.
  const int all = request.plan.micro_batches, round = micro_batch_round(request.plan),
            stages = static_cast<int>(request.plan.stages.size()),
            count = in_whole_rounds((stages > 1 ? 2 * stages : 1) + kFirstOnes, request.plan);
  const auto whole = [&] {
    const TaskGraph graph = lower_alike(request).graph;
    return LeastIteration{least_end(graph), static_cast<double>(graph.tasks().size())};
  };
  if (request.plan.workload.steps > 1 || 2 * count + round >= all) return whole();
  Colouring alike;
  const FewBatches few = sample(request, count, alike), more = sample(request, count + round, alike);
  if (few.lines.size() != more.lines.size() || few.devices() != more.devices()) return whole();
  const TaskGraph& graph = more.graph();
  const double rounds = static_cast<double>(all - count) / round - 1;
  const auto times = least_times(graph), ends = longest_ways(graph, times);
  double end = last_of(ends);
  const auto lines = lines_to_look_at(few, more, times, ends);
  if (lines.empty()) return whole();
  // With long delays, the pace of a pipeline is a micro-batch's path through all stages and back, shared by several rounds.
  std::set<int> apart = {1, std::max(1, stages / round)};
  for (const std::size_t line : lines) {
    for (const int by : apart) {
      // A ring's end waits for the last slice of its chunks: no way leads on from an earlier one.
      for (std::size_t slice = 0; slice < std::size_t{kNcclMostSlices}; ++slice) {
        const auto two = rounds_apart(few, more, line, static_cast<std::size_t>(by), slice);
        if (!two) break;
        const auto ways = longest_ways(graph, times, two->then);
        if (ways[two->now] <= 0) continue;
        end = std::max(end, ends[two->then] + std::floor(rounds / by) * ways[two->now] + last_of(ways));
        break;
      }
    }
  }
  const auto few_times = least_times(few.graph());
  const auto before = uses_of(few.graph(), few_times, longest_ways(few.graph(), few_times));
  auto uses = uses_of(graph, times, ends);
  for (std::size_t i = 0; i < uses.size() && before.size() == uses.size(); ++i)
    uses[i].bytes += rounds * std::max(0.0, uses[i].bytes - before[i].bytes);
  const auto a = static_cast<double>(few.graph().tasks().size()), b = static_cast<double>(graph.tasks().size());
  return {Seconds{std::max(end, end_of_loads(graph, uses))}, loses_segments(graph) ? b + rounds * (b - a) : a + b};
}

}  // namespace slmsim
