#include "sim/engine/slowdown.h"

namespace slmsim {

DeviceComputations::DeviceComputations(const TaskGraph& graph)
    : graph_(graph), bounds_(graph.bounds()), devices_(static_cast<std::size_t>(graph.device_count())) {}

bool DeviceComputations::slows(TaskId task) const {
  const Task& one = graph_.tasks()[task];
  return one.kind == TaskKind::kCompute && one.amount > 0 && graph_.multiprocessors(one.place) > 0 && bounds_[task] > 0;
}

double DeviceComputations::begin(TaskId task, double now) {
  const Task& one = graph_.tasks()[task];
  Device& device = devices_[one.place];
  const double bound = bounds_[task];
  const Pace pace(now, one.amount, slowed(bound, graph_.multiprocessors(one.place), device.held));
  device.running.push_back({task, bound, pace});
  return pace.finish();
}

void DeviceComputations::happen(const Task& hold) {
  const auto index = static_cast<std::size_t>(hold.place);
  Device& device = devices_[index];
  device.held += hold.kind == TaskKind::kHold ? hold.times : -hold.times;
  if (!device.changed) changed_.push_back(index);
  device.changed = true;
}

bool DeviceComputations::ends(TaskId task, double date) {
  auto& running = devices_[graph_.tasks()[task].place].running;
  const auto at = std::find_if(running.begin(), running.end(), [&](const auto& one) { return one.task == task; });
  if (at == running.end() || at->pace.finish() != date) return false;
  running.erase(at);
  return true;
}

bool KnownHolds::happen(double time, int held) {
  if (time < done_) return false;
  auto at = steps_.end();
  while (at != steps_.begin() && std::prev(at)->time > time) --at;
  const int before = at == steps_.begin() ? 0 : std::prev(at)->held;
  at = steps_.insert(at, {time, before});
  for (; at != steps_.end(); ++at) at->held += held;
  return true;
}

double KnownHolds::finish(double start, double alone, double bound, int multiprocessors) {
  // The last of several holds at one time counts.
  auto at = std::upper_bound(steps_.begin(), steps_.end(), start,
                             [](double time, const Step& step) { return time < step.time; });
  Pace pace(start, alone, slowed(bound, multiprocessors, at == steps_.begin() ? 0 : std::prev(at)->held));
  for (; at != steps_.end() && at->time < pace.finish(); ++at) {
    if (std::next(at) == steps_.end() || std::next(at)->time > at->time)
      pace.change(at->time, slowed(bound, multiprocessors, at->held));
  }
  done_ = std::max(done_, pace.finish());
  return pace.finish();
}

}  // namespace slmsim
