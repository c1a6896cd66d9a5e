#include "sim/graph/task_graph.h"

#include <algorithm>
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

TaskId TaskGraph::compute(int device, Seconds time, TagId tag, std::span<const TaskId> after, Flops work) {
  assert(device >= 0 && device < device_count_ && time.value >= 0 && std::isfinite(time.value));
  const TaskId id = add({.amount = time.value, .place = device, .tag = tag, .kind = TaskKind::kCompute}, after);
  if (work > Flops{0}) work_.emplace_back(id, work);
  return id;
}

TaskId TaskGraph::transfer(int connection, Bytes size, TagId tag, std::span<const TaskId> after) {
  assert(connection >= 0 && connection < static_cast<int>(connections_.size()) && size.value >= 0);
  // Networks carry whole bytes; a call of std::round would cost more than all else.
  const double whole = std::trunc(size.value + 0.5);
  return add({.amount = whole, .place = connection, .tag = tag, .kind = TaskKind::kTransfer}, after);
}

TaskId TaskGraph::delay(Seconds time, TagId tag, std::span<const TaskId> after) {
  assert(time.value >= 0 && std::isfinite(time.value));
  return add({.amount = time.value, .tag = tag, .kind = TaskKind::kDelay}, after);
}

TaskId TaskGraph::host(int device, Seconds time, TagId tag, std::span<const TaskId> after) {
  assert(time.value >= 0 && std::isfinite(time.value) && tags_[tag].of == TaskClass::kHost);
  return add({.amount = time.value, .place = device, .tag = tag, .kind = TaskKind::kDelay}, after);
}

int TaskGraph::add_connection(Connection connection) {
  connections_.push_back(std::move(connection));
  return static_cast<int>(connections_.size()) - 1;
}

TagId TaskGraph::tag(Tag tag) {
  auto& alike = tags_named_[tag.name];
  for (const TagId known : alike) {
    if (tags_[known] == tag) return known;
  }
  alike.push_back(static_cast<TagId>(tags_.size()));
  tags_.push_back(std::move(tag));
  return alike.back();
}

Flops TaskGraph::flops(TaskId task) const {
  const auto at = std::lower_bound(work_.begin(), work_.end(), task,
                                   [](const auto& entry, TaskId wanted) { return entry.first < wanted; });
  return at != work_.end() && at->first == task ? at->second : Flops{0};
}

void TaskGraph::scale(TaskClass of, double factor) {
  for (auto& task : tasks_) {
    if (task.kind != TaskKind::kTransfer && tag_of(task).of == of) task.amount *= factor;
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

void TaskGraph::set_time(TaskClass of, Seconds time) {
  for (auto& task : tasks_) {
    if (task.kind == TaskKind::kCompute && tag_of(task).of == of) task.amount = time.value;
  }
}

}  // namespace slmsim
