#include "sim/graph/task_graph.h"

#include <cassert>
#include <cmath>

namespace slmsim {

TaskId TaskGraph::add(Task task, std::span<const TaskId> after) {
  const auto id = static_cast<TaskId>(tasks_.size());
  task.first_predecessor = static_cast<std::uint32_t>(predecessors_.size());
  for (const TaskId before : after) {
    if (before == kNoTask) continue;
    assert(before < id && "a task waits only for tasks added before it");
    predecessors_.push_back(before);
  }
  tasks_.push_back(task);
  return id;
}

TaskId TaskGraph::compute(int device, Seconds time, Activity activity, std::uint32_t label,
                          std::span<const TaskId> after) {
  assert(device >= 0 && device < device_count_ && time.value >= 0 && std::isfinite(time.value));
  return add({.amount = time.value, .place = device, .label = label, .kind = TaskKind::kCompute, .activity = activity},
             after);
}

TaskId TaskGraph::transfer(int connection, Bytes size, std::uint32_t label, std::span<const TaskId> after) {
  assert(connection >= 0 && connection < static_cast<int>(connections_.size()) && size.value >= 0);
  // Networks carry whole bytes; a call of std::round would cost more than all else.
  const double whole = std::trunc(size.value + 0.5);
  return add({.amount = whole, .place = connection, .label = label, .kind = TaskKind::kTransfer}, after);
}

TaskId TaskGraph::delay(Seconds time, std::uint32_t label, std::span<const TaskId> after, Activity activity) {
  assert(time.value >= 0 && std::isfinite(time.value));
  return add({.amount = time.value, .label = label, .kind = TaskKind::kDelay, .activity = activity}, after);
}

int TaskGraph::add_connection(Connection connection) {
  connections_.push_back(std::move(connection));
  return static_cast<int>(connections_.size()) - 1;
}

std::uint32_t TaskGraph::label(const std::string& text) {
  const auto [at, added] = label_numbers_.try_emplace(text, static_cast<std::uint32_t>(labels_.size()));
  if (added) labels_.push_back(text);
  return at->second;
}

void TaskGraph::scale(Activity activity, double factor) {
  for (auto& task : tasks_) {
    if (task.kind != TaskKind::kTransfer && task.activity == activity) task.amount *= factor;
  }
}

void TaskGraph::remove_latency() {
  for (auto& connection : connections_) connection.route.latency = Seconds{0};
  for (auto& task : tasks_) {
    if (is_latency(task)) task.amount = 0;
  }
}

void TaskGraph::move_to(const Network& network) {
  links_ = network.links();
  for (auto& connection : connections_) {
    if (!network.share_vm(connection.from, connection.to))
      connection.route = network.route(connection.from, connection.to, connection.nic);
  }
}

void TaskGraph::set_time(Activity activity, Seconds time) {
  for (auto& task : tasks_) {
    if (task.kind == TaskKind::kCompute && task.activity == activity) task.amount = time.value;
  }
}

}  // namespace slmsim
