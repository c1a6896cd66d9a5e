#include "sim/predict/passages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/engine/capacity.h"

namespace slmsim {
namespace {

constexpr double kSameTime = 1e-12;  // relative to the timeline's end

// Whether each link is crossed by as many connections of the GPUs as where these are alone: more are of equal GPUs that share it.
bool are_alone(const TaskGraph& graph, const Exchangers& gpus) {
  std::map<int, std::map<int, int>> alone;  // per link, by those opened together
  for (const auto& [opened, link, count] : gpus.crossings) {
    const int known = alone[graph.link_of(link)].try_emplace(opened, count).first->second;
    if (known != count) return false;
  }
  std::map<int, int> crossed;
  for (const int connection : gpus.connections) {
    if (connection == Exchangers::kRepeated) continue;
    for (const int link : graph.connections()[connection].route.links) ++crossed[link];
  }
  return std::ranges::all_of(alone, [&](const auto& one) {
    int sum = 0;
    for (const auto& [opened, count] : one.second) sum += count;
    const auto at = crossed.find(one.first);
    return at != crossed.end() && at->second == sum;
  });
}

using Passages = std::vector<const Passage*>;  // of the same GPUs, in their order

// Whether an exchange takes place inside the passages between these times.
bool exchange(const Passages& gpus, const Timeline& timeline, double start, double finish, double rounding) {
  const auto ends_before = [&](const Passage* one, double time) { return timeline.finish[one->end] <= time; };
  auto at = std::lower_bound(gpus.begin(), gpus.end(), start + rounding, ends_before);
  for (; at != gpus.end() && timeline.start[(*at)->task] < finish - rounding; ++at) {
    const PassageBegin begin = begin_of(**at, timeline);
    for (const Inside::Span& span : (*at)->inside->exchanges) {
      const double from = span.start(begin.gpu, begin.host);
      if (from < finish - rounding && start + rounding < from + span.length) return true;
    }
  }
  return false;
}

// GPUs whose repeated steps are not as long as the one before, or whose hosts fall behind.
std::set<int> out_of_time(const TaskGraph& graph, const Timeline& timeline) {
  const double rounding = kSameTime * timeline.end.value;
  std::set<int> out;
  for (const RepeatedSteps& steps : graph.repeated_steps()) {
    const auto each = [&](TaskId task) { return graph.tasks()[task].amount / steps.times; };
    if (std::abs(step_length(steps, timeline) - each(steps.task)) > rounding) out.insert(steps.device);
    if (steps.launching != kNoTask && each(steps.launching) > each(steps.task) + rounding) out.insert(steps.device);
  }
  return out;
}

}  // namespace

double step_length(const RepeatedSteps& steps, const Timeline& timeline) {
  return timeline.finish[steps.end] - timeline.finish[steps.begin];
}

std::map<int, Seconds> length_of_steps(const TaskGraph& graph, const Timeline& timeline) {
  std::map<int, Seconds> out;
  for (const RepeatedSteps& steps : graph.repeated_steps())
    out.emplace(steps.device, Seconds{step_length(steps, timeline)});
  return out;
}

std::set<int> out_of_step(const TaskGraph& graph, const Timeline& timeline) {
  const double rounding = kSameTime * timeline.end.value;
  struct Exchanging {
    Passages passages;
    bool apart = false;
  };
  std::map<const Exchangers*, Exchanging> all;
  for (const Passage& one : graph.passages()) {
    if (!one.exchangers) continue;
    auto& [passages, apart] = all[one.exchangers.get()];
    // GPUs that exchange for two purposes at once share their links.
    apart = apart || (!passages.empty() && timeline.start[one.task] < timeline.finish[passages.back()->end] - rounding);
    passages.push_back(&one);
    if (one.meeting == kNoTask || apart) continue;
    const auto end = [&](TaskId before) { return timeline.finish[before]; };
    const auto [first, last] = std::ranges::minmax(graph.predecessors(one.meeting), {}, end);
    apart = end(last) - end(first) > rounding;
  }
  std::set<int> out = out_of_time(graph, timeline);
  if (all.empty()) return out;
  // Windows change from one iteration to the next, and this is the last one's timeline.
  const bool windows = has_windows(capacities(graph));
  std::vector<Exchanging*> over(graph.links().size());
  for (auto& [exchangers, group] : all) {
    group.apart = group.apart || windows || !are_alone(graph, *exchangers);
    for (const auto& crossing : exchangers->crossings) {
      Exchanging*& own = over[graph.link_of(crossing.link)];
      if (own != nullptr && own != &group) own->apart = group.apart = true;
      own = &group;
    }
  }
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind != TaskKind::kTransfer) continue;
    const Route& route = graph.connections()[task.place].route;
    const double left = timeline.finish[id] - route.latency.value;  // until its last byte did
    for (const int link : route.links) {
      Exchanging* own = over[link];
      if (own == nullptr || own->apart) continue;
      own->apart = exchange(own->passages, timeline, timeline.start[id], left, rounding);
    }
  }
  std::set<int> represented;
  for (const auto& [exchangers, group] : all) {
    for (const int number : exchangers->connections) {
      if (!group.apart || number == Exchangers::kRepeated) continue;
      const Connection& connection = graph.connections()[number];
      represented.insert({connection.from, connection.to});
      represented.insert(connection.of.begin(), connection.of.end());
    }
  }
  for (int device = 0; device < graph.device_count() && !represented.empty(); ++device) {
    if (represented.contains(graph.device_of(device))) out.insert(device);
  }
  return out;
}

PassageBegin begin_of(const Passage& passage, const Timeline& timeline) {
  const double host = passage.launching == kNoTask ? -INFINITY : timeline.start[passage.launching];
  return {timeline.start[passage.task], host};
}

void add_inner_flows(const TaskGraph& graph, Timeline& timeline) {
  each_inner_transfer(graph, [&](const Passage& passage, const Inside::Transfer& one, int connection) {
    const PassageBegin begin = begin_of(passage, timeline);
    const double start = one.when.start(begin.gpu, begin.host);
    timeline.flows.push_back({connection, start, start + one.when.length, one.bytes});
  });
  const std::size_t simulated = timeline.flows.size();
  for (const RepeatedSteps& steps : graph.repeated_steps()) {
    std::set<int> used;  // by these steps; what the GPU sends of an exchange may end later
    for (TaskId id = steps.begin + 1; id <= steps.end; ++id) {
      const Task& task = graph.tasks()[id];
      if (task.kind == TaskKind::kTransfer && graph.connections()[task.place].from == steps.device)
        used.insert(task.place);
    }
    const double begin = timeline.finish[steps.begin], end = timeline.finish[steps.end];
    for (std::size_t flows = 0; flows < simulated; ++flows) {
      const Flow flow = timeline.flows[flows];
      if (!used.contains(flow.connection) || flow.start < begin || flow.start >= end) continue;
      for (int i = 1; i <= steps.times; ++i) {
        const double later = i * step_length(steps, timeline);
        timeline.flows.push_back({flow.connection, flow.start + later, flow.finish + later, flow.bytes});
      }
    }
  }
}

}  // namespace slmsim
