#include "sim/predict/job/link_day.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace slmsim {

namespace {

WanLink at_hour(WanLink link, const LinkDay& day, Seconds time) {
  const LinkHours* now = nullptr;
  for (const LinkHours& hours : day.hours) {
    if (hours.from <= time) now = &hours;
  }
  const Seconds rtt = link.forward.delay + link.backward.delay;
  for (WanDirection* way : {&link.forward, &link.backward}) {
    if (now->bandwidth) way->bandwidth = *now->bandwidth;
    if (now->loss) way->loss = *now->loss;
    if (now->rtt) way->delay = rtt > Seconds{0} ? *now->rtt * (way->delay / rtt) : *now->rtt / 2;
  }
  return link;
}

}  // namespace

std::vector<LinkState> link_states(const Scenario& scenario) {
  if (!scenario.job || scenario.job->days.empty()) return {{Seconds{0}, scenario.platform.links}};
  std::set<double> changes;
  for (const LinkDay& day : scenario.job->days) {
    for (const LinkHours& hours : day.hours) changes.insert(hours.from.value);
  }
  std::vector<LinkState> out;
  for (const double change : changes) {
    LinkState state{Seconds{change}, scenario.platform.links};
    for (const LinkDay& day : scenario.job->days) {
      WanLink& link = state.links[day.link];
      link = at_hour(link, day, Seconds{change});
    }
    out.push_back(std::move(state));
  }
  return out;
}

namespace {

constexpr double kLeastBytes = 1e-6;

// Bytes that each connection has sent by a time, and when it last sent.
struct SentBytes {
  double bytes = 0, last = -INFINITY;
  bool sends = false;  // at that time
};
std::vector<SentBytes> sent_until(const TaskGraph& graph, const Timeline& timeline, double when) {
  std::vector<SentBytes> out(graph.connections().size());
  for (const Flow& flow : timeline.flows) {
    if (flow.start >= when) continue;
    SentBytes& sent = out[flow.connection];
    const bool whole = flow.finish <= when;
    sent.bytes += whole ? flow.bytes : flow.bytes * ((when - flow.start) / (flow.finish - flow.start));
    sent.last = std::max(sent.last, whole ? flow.finish : when);
    sent.sends = sent.sends || !whole;
  }
  return out;
}

// Bytes that a transfer has sent, from those its connection has sent; transfers before it take theirs first.
TaskRest rest_of_transfer(const Task& task, double finish, double when, double& sent) {
  const double bytes = task.amount * task.times, left = bytes - std::min(bytes, sent);
  sent = std::max(0.0, sent - bytes);
  if (left <= kLeastBytes) return {finish - when, 1, true};
  const double times = std::ceil(left / task.amount * (1 - 1e-12));
  return {left / times, static_cast<std::uint16_t>(times), false};
}

std::vector<TaskRest> rests(const TaskGraph& graph, const Timeline& timeline, std::vector<SentBytes> sent,
                            double when) {
  const auto& tasks = graph.tasks();
  std::vector<TaskRest> out(tasks.size());
  std::vector<TaskId> transfers;
  for (TaskId t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    if (task.kind == TaskKind::kTransfer) {
      transfers.push_back(t);
    } else if (task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) {
      out[t] = {0, task.times, false};  // holds apply from their start
    } else if (timeline.finish[t] <= when) {
      out[t] = {0, 1, true};
    } else if (timeline.start[t] <= when) {
      out[t] = {timeline.finish[t] - when, 1, true};  // still slowed by NCCL's kernels
    } else {
      out[t] = {task.amount, task.times, false};
    }
  }
  // A connection carries transfers in the order in which they began.
  std::stable_sort(transfers.begin(), transfers.end(),
                   [&](TaskId a, TaskId b) { return timeline.start[a] < timeline.start[b]; });
  for (const TaskId t : transfers) {
    double& of_connection = sent[tasks[t].place].bytes;
    if (timeline.finish[t] <= when) {
      of_connection = std::max(0.0, of_connection - tasks[t].amount * tasks[t].times);
      out[t] = {0, 1, true};
    } else if (timeline.start[t] > when) {
      out[t] = {tasks[t].amount, tasks[t].times, false};
    } else {
      out[t] = rest_of_transfer(tasks[t], timeline.finish[t], when, of_connection);
    }
  }
  return out;
}

std::vector<ConnectionState> states_at(const std::vector<ConnectionState>& before, const Timeline& timeline,
                                       const std::vector<SentBytes>& sent, double when) {
  std::vector<ConnectionState> out = timeline.connections;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::isfinite(sent[i].last)) {
      out[i].idle = Seconds{sent[i].sends ? 0 : when - sent[i].last};
      out[i].on_the_way.clear();
    } else {
      out[i] = i < before.size() ? before[i] : ConnectionState{};
      out[i].idle += Seconds{when};
      out[i].on_the_way.clear();
    }
  }
  return out;
}

}  // namespace

Seconds time_across(const TaskGraph& graph, const Network& after, const std::vector<ConnectionState>& before,
                    Seconds when) {
  const Timeline first = simulate(graph, before, {.record_flows = true});
  if (when >= first.end) return first.end;
  const std::vector<SentBytes> sent = sent_until(graph, first, when.value);
  TaskGraph rest = graph;
  rest.go_on_with(rests(graph, first, sent, when.value));
  rest.move_to(after);
  return when + simulate(rest, states_at(before, first, sent, when.value)).end;
}

Seconds excess_of_change(const TaskGraph& graph, const Network& after, const std::vector<ConnectionState>& before,
                         Seconds first, Seconds second, int times) {
  Seconds sum{0};
  for (int i = 0; i < times; ++i) {
    const double share = (i + 0.5) / times;
    sum += time_across(graph, after, before, first * share) - first * share - second * (1 - share);
  }
  return sum / static_cast<double>(times);
}

}  // namespace slmsim
