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

}  // namespace slmsim
