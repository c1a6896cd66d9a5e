#include <algorithm>

#include "sim/explain/limits.h"

namespace slmsim {
namespace {

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
