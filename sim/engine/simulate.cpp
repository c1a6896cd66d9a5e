#include "sim/engine/simulate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/engine/simgrid_engine.h"

namespace slmsim {
namespace {

// A sender waits until it may send this share of its window, as acknowledgements do not come byte by byte; it
// bounds the number of flows per round trip.
constexpr double kLeastShareOfWindow = 0.25;

// Linux halves the window for every retransmission time-out that a connection was idle, down to the initial
// window (tcp_cwnd_restart in net/ipv4/tcp_output.c, after RFC 2861).
double window_after_idle(double window, double least, double idle, double time_out) {
  if (time_out <= 0) return window;
  for (double left = idle - time_out; left > 0 && window > least; left -= time_out) window /= 2;
  return std::max(window, least);
}

// A connection while its graph runs. Bytes and windows are those of all its sockets.
struct Channel {
  const Connection* connection = nullptr;
  int cap = -1;
  TaskId head = kNoTask, tail = kNoTask;  // transfers waiting or under way, linked through Run::next_
  double remaining = 0;                   // of the transfer at the head
  bool flowing = false;
  double flow_start = 0, flow_bytes = 0;
  double window = 0, on_the_way = 0;
  double last_sent = 0;
};

class Run {
 public:
  Run(const TaskGraph& graph, const std::vector<ConnectionState>& before, const SimulationOptions& options)
      : graph_(graph), options_(options) {
    const std::size_t count = graph.tasks().size();
    timeline_.start.assign(count, -1.0);
    timeline_.finish.assign(count, -1.0);
    index_successors();
    open_channels(before);
  }

  Timeline run() {
    for (TaskId task = 0; task < waiting_for_.size(); ++task) {
      if (waiting_for_[task] == 0) starting_.push_back(task);
    }
    std::vector<TaskId> first;
    first.swap(starting_);
    engine_->at(zero_, [this, first] {
      starting_ = first;
      start_ready();
    });
    engine_->run(channels_.size(), [this](std::size_t channel) { flow_ended(channel); });
    return finish();
  }

 private:
  double now() const { return engine_->now() - zero_; }

  void index_successors() {
    const std::size_t count = graph_.tasks().size();
    waiting_for_.assign(count, 0);
    first_successor_.assign(count + 1, 0);
    for (TaskId task = 0; task < count; ++task) {
      const auto before = graph_.predecessors(task);
      waiting_for_[task] = static_cast<std::uint32_t>(before.size());
      for (const TaskId b : before) ++first_successor_[b + 1];
    }
    for (std::size_t i = 1; i <= count; ++i) first_successor_[i] += first_successor_[i - 1];
    successors_.resize(first_successor_[count]);
    std::vector<std::uint32_t> fill(first_successor_.begin(), first_successor_.end() - 1);
    for (TaskId task = 0; task < count; ++task) {
      for (const TaskId b : graph_.predecessors(task)) successors_[fill[b]++] = task;
    }
    next_.assign(count, kNoTask);
  }

  void open_channels(const std::vector<ConnectionState>& before) {
    std::map<double, int> caps;
    for (std::size_t i = 0; i < graph_.connections().size(); ++i) {
      const Connection& connection = graph_.connections()[i];
      Channel channel;
      channel.connection = &connection;
      const double rate = connection.route.socket_rate.value * connection.sockets;
      if (rate > 0) channel.cap = caps.emplace(rate, static_cast<int>(caps.size())).first->second;
      channel.window = connection.route.window.initial.value * connection.sockets;
      channel.last_sent = -INFINITY;
      if (i < before.size() && before[i].window > 0) {
        channel.window = before[i].window * connection.sockets;
        channel.last_sent = -before[i].idle.value;
      }
      channels_.push_back(channel);
    }
    std::vector<double> rates(caps.size());
    for (const auto& [rate, index] : caps) rates[static_cast<std::size_t>(index)] = rate;
    engine_ = &SimgridEngine::instance(graph_.links().size(), rates.size());
    engine_->configure(graph_.links(), rates);
    zero_ = engine_->now();
  }

  void start_ready() {
    while (!starting_.empty()) {
      const TaskId id = starting_.back();
      starting_.pop_back();
      const Task& task = graph_.tasks()[id];
      if (task.kind == TaskKind::kTransfer) {
        enqueue(id);
      } else {
        timeline_.start[id] = now();
        complete_at(id, now() + task.amount);
      }
    }
  }

  void complete_at(TaskId id, double time) {
    if (time <= now()) {
      complete(id);
    } else {
      engine_->at(zero_ + time, [this, id] {
        complete(id);
        start_ready();
      });
    }
  }

  // Tasks that become ready are started by start_ready, not here: chains of any length need no deep stack.
  void complete(TaskId id) {
    timeline_.finish[id] = now();
    ++completed_;
    for (std::uint32_t i = first_successor_[id]; i < first_successor_[id + 1]; ++i) {
      if (--waiting_for_[successors_[i]] == 0) starting_.push_back(successors_[i]);
    }
  }

  void enqueue(TaskId id) {
    const auto index = static_cast<std::size_t>(graph_.tasks()[id].place);
    Channel& channel = channels_[index];
    if (channel.head == kNoTask) {
      channel.head = channel.tail = id;
      begin(index);
    } else {
      next_[channel.tail] = id;
      channel.tail = id;
    }
  }

  void begin(std::size_t index) {
    Channel& channel = channels_[index];
    timeline_.start[channel.head] = now();
    channel.remaining = graph_.tasks()[channel.head].amount;
    const Route& route = channel.connection->route;
    if (route.windowed) {
      const double least = route.window.initial.value * channel.connection->sockets;
      channel.window =
          window_after_idle(channel.window, least, now() - channel.last_sent, route.window.idle_limit.value);
    }
    if (channel.remaining <= 0) {
      transfer_left(index);
    } else {
      pump(index);
    }
  }

  // Sends what the window lets out.
  void pump(std::size_t index) {
    Channel& channel = channels_[index];
    if (channel.flowing || channel.head == kNoTask) return;
    double piece = channel.remaining;
    if (channel.connection->route.windowed) {
      const double room = std::floor(channel.window - channel.on_the_way);
      if (room < std::min(channel.remaining, std::floor(channel.window * kLeastShareOfWindow))) return;
      piece = std::min(piece, room);
    }
    channel.flowing = true;
    channel.flow_start = now();
    channel.flow_bytes = piece;
    channel.on_the_way += piece;
    engine_->start_flow(index, piece, channel.connection->route.links, channel.cap);
  }

  void flow_ended(std::size_t index) {
    Channel& channel = channels_[index];
    const double bytes = channel.flow_bytes;
    channel.flowing = false;
    channel.remaining -= bytes;
    channel.last_sent = now();
    if (options_.record_flows)
      timeline_.flows.push_back({static_cast<int>(index), channel.flow_start, now(), bytes});
    const TcpWindow& window = channel.connection->route.window;
    if (channel.connection->route.windowed) {
      engine_->at(zero_ + now() + window.rtt.value, [this, index, bytes] { acknowledged(index, bytes); });
    } else {
      channel.on_the_way -= bytes;
    }
    if (channel.remaining <= 0) {
      transfer_left(index);
    } else {
      pump(index);
    }
    start_ready();
  }

  void acknowledged(std::size_t index, double bytes) {
    Channel& channel = channels_[index];
    const double steady = channel.connection->route.window.steady.value * channel.connection->sockets;
    channel.on_the_way -= bytes;
    channel.window = std::min(channel.window + bytes, steady);
    pump(index);
  }

  // The last byte of the head transfer is on the wire: it arrives a latency later, and the next one may go.
  void transfer_left(std::size_t index) {
    Channel& channel = channels_[index];
    const TaskId id = channel.head;
    complete_at(id, now() + channel.connection->route.latency.value);
    channel.head = next_[id];
    if (channel.head == kNoTask) {
      channel.tail = kNoTask;
    } else {
      begin(index);
    }
  }

  Timeline finish() {
    if (completed_ != graph_.tasks().size()) {
      throw std::logic_error(fmt::format("{} of {} tasks never finished", graph_.tasks().size() - completed_,
                                         graph_.tasks().size()));
    }
    for (const double time : timeline_.finish) timeline_.end = std::max(timeline_.end, Seconds{time});
    for (const auto& channel : channels_) {
      const bool used = std::isfinite(channel.last_sent) && channel.connection->route.windowed;
      timeline_.connections.push_back(used ? ConnectionState{channel.window / channel.connection->sockets,
                                                             timeline_.end - Seconds{channel.last_sent}}
                                           : ConnectionState{});
    }
    return std::move(timeline_);
  }

  const TaskGraph& graph_;
  SimulationOptions options_;
  SimgridEngine* engine_ = nullptr;
  double zero_ = 0;
  Timeline timeline_;
  std::vector<std::uint32_t> waiting_for_, first_successor_;
  std::vector<TaskId> successors_, next_, starting_;
  std::vector<Channel> channels_;
  std::size_t completed_ = 0;
};

}  // namespace

Timeline simulate(const TaskGraph& graph, const std::vector<ConnectionState>& before,
                  const SimulationOptions& options) {
  if (graph.tasks().empty()) return {};
  return Run(graph, before, options).run();
}

}  // namespace slmsim
