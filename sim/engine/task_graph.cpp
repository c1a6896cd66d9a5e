#include "sim/engine/task_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

namespace slmsim {
namespace {

std::array<double, 11> numbers_of(const TcpWindow& window) {
  return {window.initial.value,
          window.steady.value,
          window.rtt.value,
          window.timeout_margin.value,
          window.restart.value,
          window.segment.value,
          window.loss,
          static_cast<double>(window.loss_sequence),
          static_cast<double>(window.congestion_control),
          window.send_buffer.value,
          window.sender_sleeps ? 1.0 : 0.0};
}

}  // namespace

BytesPerSecond most_rate(const Connection& connection, const std::vector<Link>& links) {
  const Route& route = connection.route;
  BytesPerSecond most{route.socket_rate.value > 0 ? route.socket_rate.value * connection.sockets : INFINITY};
  for (const int link : route.links) most = std::min(most, links[static_cast<std::size_t>(link)].bandwidth);
  return most;
}

TaskGraph::TaskGraph(std::shared_ptr<const std::vector<Link>> links, int device_count, const Colouring* alike)
    : links_(std::move(links)), device_count_(device_count), fold_(alike ? std::make_shared<Fold>(*alike) : nullptr) {}

bool TaskGraph::is_like(TaskId known, const Task& task, std::span<const TaskId> after) const {
  const Task& one = tasks_[known];
  const auto before = predecessors(known);
  return one.amount == task.amount && one.tag == task.tag && one.kind == task.kind && one.times == task.times &&
         std::equal(before.begin(), before.end(), after.begin(), after.end());
}

// The representative of this task, or a new task.
TaskId TaskGraph::add_folded(const Task& task, std::span<const TaskId> after, int line) {
  if (fold_->differs()) return 0;  // any number: only connections matter from here on
  std::vector<TaskId>& distinct = distinct_;
  distinct.clear();
  for (const TaskId before : after) {
    if (before != kNoTask) distinct.push_back(before);
  }
  if (!std::is_sorted(distinct.begin(), distinct.end())) std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (line != Fold::kNoLine) {
    const TaskId known = fold_->next(line);
    if (known == kNoTask) {
      const TaskId id = append(task, distinct);
      fold_->made(line, id);
      return id;
    }
    if (!is_like(known, task, distinct)) fold_->differ();
    return known;
  }
  // Tasks without a place are equal if their predecessors are.
  const auto next = static_cast<TaskId>(tasks_.size());
  const TaskId known =
      joins_.find_or_add(hash_of(task, distinct), next, [&](TaskId id) { return is_like(id, task, distinct); });
  return known == next ? append(task, distinct) : known;
}

std::uint32_t TaskGraph::hash_of(const Task& task, std::span<const TaskId> after) {
  std::uint64_t hash = std::bit_cast<std::uint64_t>(task.amount) ^ task.tag;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;  // Fibonacci hashing (Knuth, volume 3, section 6.4)
    hash ^= hash >> 32;
  };
  mix(after.size());
  for (const TaskId before : after) mix(before);
  return static_cast<std::uint32_t>(hash);
}

Colouring TaskGraph::settle() {
  if (!fold_) return {};
  std::vector<std::vector<int>*> routes;
  for (auto& connection : connections_) routes.push_back(&connection.route.links);
  Colouring finer = fold_->settle(*links_, routes, taken_for_);
  if (!finer.devices.empty()) return finer;
  for (int device = 0; device < device_count_; ++device) device_taken_for_.push_back(fold_->first(device));
  fold_ = nullptr;
  joins_ = {};
  folded_ = true;
  return {};
}

TaskGraph TaskGraph::without_tasks() const {
  assert(!fold_);
  TaskGraph out(links_, device_count_, nullptr);
  out.connections_ = connections_;
  out.folded_ = folded_;
  out.taken_for_ = taken_for_;
  out.device_taken_for_ = device_taken_for_;
  return out;
}

TaskId TaskGraph::add(const Task& task, std::span<const TaskId> after, int line) {
  return fold_ ? add_folded(task, after, line) : append(task, after);
}

TaskId TaskGraph::append(Task task, std::span<const TaskId> after) {
  if (tasks_.size() >= most_tasks_) throw TooManyTasks();
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

TaskId TaskGraph::compute(int device, Seconds time, TagId tag, std::span<const TaskId> after, const Work& work) {
  assert(device >= 0 && device < device_count_ && time.value >= 0 && std::isfinite(time.value));
  const int place = fold_ ? fold_->first(device) : device;
  const std::size_t before = tasks_.size();
  const TaskId id = add({.amount = time.value, .place = place, .tag = tag, .kind = TaskKind::kCompute}, after,
                        fold_ ? fold_->computing(device) : Fold::kNoLine);
  if (id == before) {
    if (work != Work{}) work_.emplace_back(id, work);
  } else if (this->work(id).bound != work.bound) {
    fold_->differ();
  }
  return id;
}

TaskId TaskGraph::transfer(int connection, Bytes size, TagId tag, std::span<const TaskId> after, int times) {
  assert(connection >= 0 && size.value >= 0 && times > 0 && times < 1 << 16);
  const int place = fold_ ? fold_->colour_of(connection) : connection;
  return add({.amount = whole_bytes(size).value,
              .place = place,
              .tag = tag,
              .kind = TaskKind::kTransfer,
              .times = static_cast<std::uint16_t>(times)},
             after, fold_ ? fold_->line_of(connection) : Fold::kNoLine);
}

TaskId TaskGraph::delay(Seconds time, TagId tag, std::span<const TaskId> after) {
  assert(time.value >= 0 && std::isfinite(time.value));
  return add({.amount = time.value, .tag = tag, .kind = TaskKind::kDelay}, after);
}

TaskId TaskGraph::host(int device, Seconds time, TagId tag, std::span<const TaskId> after) {
  assert(time.value >= 0 && std::isfinite(time.value) && tags_[tag].of == TaskClass::kHost);
  return add(
      {.amount = time.value, .place = fold_ ? fold_->first(device) : device, .tag = tag, .kind = TaskKind::kDelay},
      after, fold_ ? fold_->hosting(device) : Fold::kNoLine);
}

TaskId TaskGraph::hold(int device, SmShare share, TagId tag, std::span<const TaskId> after) {
  return add_hold(TaskKind::kHold, device, share, tag, after);
}

TaskId TaskGraph::release(int device, SmShare share, TagId tag, std::span<const TaskId> after) {
  return add_hold(TaskKind::kRelease, device, share, tag, after);
}

TaskId TaskGraph::add_hold(TaskKind kind, int device, SmShare share, TagId tag, std::span<const TaskId> after) {
  assert(share.held > 0 && share.held < 1 << 16 && share.of > 0);
  const int place = fold_ ? fold_->first(device) : device;
  multiprocessors_.resize(static_cast<std::size_t>(device_count_));
  int& of = multiprocessors_[place];
  assert((of == 0 || of == share.of || fold_) && "a device's number");
  if (of != 0 && of != share.of) fold_->differ();
  of = share.of;
  return add({.place = place, .tag = tag, .kind = kind, .times = static_cast<std::uint16_t>(share.held)}, after,
             fold_ ? fold_->holding(device) : Fold::kNoLine);
}

int TaskGraph::add_connection(Connection connection, int position) {
  if (fold_) return open_folded(std::move(connection), position);
  connections_.push_back(std::move(connection));
  return static_cast<int>(connections_.size()) - 1;
}

int TaskGraph::open_folded(Connection connection, int position) {
  const Route& route = connection.route;
  std::vector<double>& traits = traits_;
  traits = {static_cast<double>(position), static_cast<double>(connection.sockets), route.latency.value,
            route.socket_rate.value, static_cast<double>(connection.traffic)};
  for (const int link : route.links) traits.push_back(links()[link].bandwidth.value);
  // Windows that begin equal, and whose bytes are sent and acknowledged at the same times, remain equal.
  const bool is_tcp = route.window.steady.value > 0;
  if (is_tcp) {
    const auto window = numbers_of(route.window);
    traits.insert(traits.end(), window.begin(), window.end());
  }
  const int colour = fold_->open({.from = connection.from,
                                  .to = connection.to,
                                  .sockets = connection.sockets,
                                  .nic = connection.nic,
                                  .relay = connection.relay,
                                  .position = position,
                                  .traffic = static_cast<int>(connection.traffic),
                                  .windowed = is_tcp},
                                 traits, route.links);
  if (colour == static_cast<int>(connections_.size())) {
    connection.from = fold_->first(connection.from);
    connection.to = fold_->first(connection.to);
    connection.of = fold_->together();
    connections_.push_back(std::move(connection));
  }
  return fold_->count() - 1;
}

void TaskGraph::repeat(int first, int end, const std::map<int, int>& devices, const Network& network) {
  for (int i = first, group = -1; i < end; ++i) {
    const Fold::ConnectionRecord one = fold_->opened(i);
    if (one.group != group) fold_->begin_group_like(one);
    group = one.group;
    const int from = devices.at(one.from), to = devices.at(one.to);
    const int relay = one.relay < 0 ? -1 : devices.at(one.relay);
    const int other = add_connection({.from = from,
                                      .to = to,
                                      .sockets = one.sockets,
                                      .route = network.route(from, to, one.nic, relay),
                                      .traffic = static_cast<Traffic>(one.traffic),
                                      .nic = one.nic,
                                      .relay = relay},
                                     one.position);
    if (fold_->colour_of(other) != one.colour) fold_->differ();
    fold_->follow(fold_->line_of(other), fold_->line_of(i));
  }
  for (const auto& [device, twin] : devices) {
    if (fold_->first(device) != fold_->first(twin)) fold_->differ();
    fold_->follow(fold_->computing(twin), fold_->computing(device));
    fold_->follow(fold_->hosting(twin), fold_->hosting(device));
    fold_->follow(fold_->holding(twin), fold_->holding(device));
  }
}

int relay_between(const Relays& relays, int from, int to) {
  const auto found =
      std::find_if(relays.begin(), relays.end(), [&](const Relay& one) { return one.from == from && one.to == to; });
  return found == relays.end() ? -1 : found->by;
}

TagId TaskGraph::tag(Tag tag) {
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string>{}(tag.name));
  const auto next = static_cast<TagId>(tags_.size());
  const TagId known = tag_places_.find_or_add(hash, next, [&](TagId id) { return tags_[id] == tag; });
  if (known == next) tags_.push_back(std::move(tag));
  return known;
}

Work TaskGraph::work(TaskId task) const {
  const auto at = std::lower_bound(work_.begin(), work_.end(), task,
                                   [](const auto& entry, TaskId wanted) { return entry.first < wanted; });
  return at != work_.end() && at->first == task ? at->second : Work{};
}

std::vector<double> TaskGraph::bounds() const {
  std::vector<double> out(tasks_.size());
  for (const auto& [task, work] : work_) out[task] = work.bound;
  return out;
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
  links_ = network.shared_links();
  for (auto& connection : connections_) {
    if (!network.share_vm(connection.from, connection.to))
      connection.route = network.route(connection.from, connection.to, connection.nic);
  }
}

void TaskGraph::scale_transfers(const std::vector<double>& factors) {
  for (auto& task : tasks_) {
    if (task.kind == TaskKind::kTransfer) task.amount *= factors[task.place];
  }
}

void TaskGraph::scale_computations(
    const std::function<double(int device, std::size_t place, std::size_t count)>& factor) {
  std::map<std::int32_t, std::size_t> count, place;
  for (const auto& task : tasks_) count[task.place] += task.kind == TaskKind::kCompute ? 1 : 0;
  for (auto& task : tasks_) {
    if (task.kind == TaskKind::kCompute) task.amount *= factor(task.place, place[task.place]++, count[task.place]);
  }
}

}  // namespace slmsim
