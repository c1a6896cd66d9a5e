#include "sim/engine/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/channel.h"
#include "sim/engine/fair_shares.h"
#include "sim/engine/pending.h"
#include "sim/engine/simgrid_engine.h"
#include "sim/engine/slowdown.h"

namespace slmsim {
namespace {

class Run {
 public:
  Run(const TaskGraph& graph, const std::vector<ConnectionState>& before, const SimulationOptions& options,
      const Successors& successors, Timeline memory)
      : graph_(graph), options_(options), progress_(successors) {
    const std::size_t count = graph.tasks().size();
    timeline_.start = std::move(memory.start);
    timeline_.finish = std::move(memory.finish);
    timeline_.start.assign(count, -1.0);
    timeline_.finish.assign(count, -1.0);
    open_channels(before);
    if (graph.is_held()) computing_.emplace(graph);
  }

  Timeline run() {
    for (TaskId task = 0; task < graph_.tasks().size(); ++task) {
      if (graph_.predecessors(task).empty()) starting_.push_back(task);
    }
    if (engine_) {
      engine_->run(
          channels_.size(), [this] { wake(); }, [this](std::size_t channel) { flow_ended(channel); });
    } else {
      start_ready();
      share();
      while (!events_.empty()) {
        clock_ = events_.top().date;
        while (!events_.empty() && events_.top().date == clock_) happen();
        share();
      }
    }
    return finish();
  }

 private:
  using Kind = Event::Kind;

  double clock() const { return engine_ ? engine_->now() : clock_; }
  double now() const { return clock() - zero_; }

  void schedule(double delay, Event event) {
    event.date = clock() + delay;
    schedule_at(event);
  }

  void schedule_at(const Event& event) {
    events_.push(event);
    if (!engine_ || event.date >= wake_date_) return;
    wake_date_ = event.date;
    engine_->wake_at(wake_date_);
  }

  void wake() {
    wake_date_ = INFINITY;
    start_ready();
    while (!events_.empty() && events_.top().date <= clock()) happen();
    share();
    if (events_.empty() || events_.top().date >= wake_date_) return;
    wake_date_ = events_.top().date;
    engine_->wake_at(wake_date_);
  }

  void happen() {
    const Event event = events_.take();
    switch (event.kind) {
      case Kind::kComputed:  // stale if its rate has changed since
        if (!computing_->ends(event.index, event.date)) break;
        [[fallthrough]];
      case Kind::kTask:
        arrived(event.index);
        start_ready();
        break;
      case Kind::kFlow:  // stale if its rate has changed since
        if (channels_[event.index].flowing && channels_[event.index].flow_end == event.date) flow_ended(event.index);
        break;
      case Kind::kAnswered:
        answered(event.index);
        break;
      case Kind::kAcknowledgement:
        acknowledged(event.index);
        break;
    }
  }

  void open_channels(const std::vector<ConnectionState>& before) {
    std::vector<Capacity> limits = capacities(graph_);
    const bool joined =
        std::any_of(limits.begin(), limits.end(), [](const Capacity& c) { return !c.contended.empty(); });
    const bool by_engine = joined && options_.always_engine;
    std::map<double, int> caps;
    channels_.reserve(limits.size());
    for (std::size_t i = 0; i < graph_.connections().size(); ++i) {
      Channel& channel = channels_.emplace_back();
      channel.connection = &graph_.connections()[i];
      channel.limits = std::move(limits[i]);
      if (!channel.limits.contended.empty())
        channel.cap = caps.emplace(channel.limits.most, static_cast<int>(caps.size())).first->second;
      if (channel.limits.windowed) channel.open(i < before.size() ? before[i] : ConnectionState{}, options_);
      channel.alone = !by_engine && channel.limits.is_alone();
      if (!channel.alone) next_.resize(graph_.tasks().size(), kNoTask);
    }
    if (const double longest = longest_wait(channels_); longest > 0) queues_.emplace(graph_.links(), longest);
    if (joined && !by_engine) {
      std::vector<double> bandwidths;
      for (const auto& link : graph_.links()) bandwidths.push_back(link.bandwidth.value);
      shares_.emplace(std::move(bandwidths), channels_.size());
    } else if (by_engine) {
      std::vector<double> rates(caps.size());
      for (const auto& [rate, index] : caps) rates[index] = rate;
      engine_ = &SimgridEngine::instance(graph_.links().size());
      engine_->configure(graph_.links(), rates);
      zero_ = engine_->now();
    }
  }

  // Starts tasks, and those that end at once make ready, in the order in which they became ready; ties in that of addition.
  void start_ready() {
    for (std::size_t i = 0; i < starting_.size();) {
      const TaskId id = starting_[i++];
      graph_.tasks()[id].kind == TaskKind::kTransfer ? enqueue(id) : start(id, graph_.tasks()[id]);
    }
    starting_.clear();
  }

  void start(TaskId id, const Task& task) {
    timeline_.start[id] = now();
    if (!computing_) return complete_after(id, task.amount);
    if (task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) computing_->happen(task);
    if (!computing_->slows(id)) return complete_after(id, task.amount);
    computed_at(id, computing_->begin(id, clock()));
  }

  void computed_at(TaskId id, double date) { schedule_at({.date = date, .index = id, .kind = Kind::kComputed}); }

  void complete_after(TaskId id, double delay) {
    if (delay <= 0) {
      arrived(id);
    } else {
      schedule(delay, {.index = id});
    }
  }

  void arrived(TaskId id) {
    if (const Task& task = graph_.tasks()[id]; task.kind == TaskKind::kTransfer && task.times > 1) {
      if (arrivals_.empty()) arrivals_.resize(graph_.tasks().size());
      if (++arrivals_[id] < task.times) return starting_.push_back(id);
    }
    complete(id);
  }

  // Ready tasks are started by start_ready, not here, so that long chains need no deep stack.
  void complete(TaskId id) {
    timeline_.finish[id] = now();
    ++completed_;
    progress_.done(id, [this](TaskId next) { starting_.push_back(next); });
  }

  void enqueue(TaskId id) {
    const auto index = static_cast<std::size_t>(graph_.tasks()[id].place);
    Channel& channel = channels_[index];
    if (channel.alone) return send_alone(id, index);
    if (channel.head == kNoTask) {
      channel.head = channel.tail = id;
      begin(index);
    } else {
      next_[channel.tail] = id;
      channel.tail = id;
    }
  }

  void send_alone(TaskId id, std::size_t index) {
    const double bytes = graph_.tasks()[id].amount;
    const auto record = [&](double from, double to, double piece) {
      if (options_.record_flows) timeline_.flows.push_back({static_cast<int>(index), from, to, piece});
    };
    const Channel::Alone sent = channels_[index].send_alone(clock_, bytes, record);
    if (timeline_.start[id] < 0) timeline_.start[id] = sent.start;
    if (sent.arrived <= clock_) return arrived(id);
    schedule_at({.date = sent.arrived, .index = id});
  }

  void begin(std::size_t index) {
    Channel& channel = channels_[index];
    if (timeline_.start[channel.head] < 0) timeline_.start[channel.head] = now();
    channel.remaining = graph_.tasks()[channel.head].amount;
    channel.averaged = 0;
    if (channel.sender && channel.remaining > 0) {
      channel.settle(now());
      channel.sender->resume(now() - channel.last_sent);
      if (channel.losses)
        channel.averaged = channel.losses->rate(channel.remaining, now() - channel.last_sent, channel.sender->state());
    }
    if (channel.remaining <= 0) {
      transfer_left(index);
    } else {
      pump(index);
    }
  }

  // Sends as much as the window allows.
  void pump(std::size_t index) {
    Channel& channel = channels_[index];
    if (!channel.waits()) return;
    const bool windowed = channel.sender && channel.averaged <= 0;
    const double piece = windowed ? channel.sender->take(channel.remaining) : channel.remaining;
    if (piece <= 0) return wait_for_acknowledgements(index);
    channel.flowing = true;
    channel.flow_start = now();
    channel.flow_bytes = piece;
    if (queues_ && channel.averaged <= 0) channel.queue(*queues_, now());
    if (channel.limits.contended.empty()) {
      end_flow_at(index, clock() + piece / channel.most());
    } else if (shares_) {
      channel.flow_left = piece;
      channel.flow_seen = clock_;
      channel.flow_end = INFINITY;  // until share()
      shares_->come(index, channel.limits.contended, channel.most());
    } else {
      engine_->start_flow(index, piece, channel.limits.contended, channel.cap);
    }
  }

  void end_flow_at(std::size_t index, double date) {
    channels_[index].flow_end = date;
    schedule_at({.date = date, .index = static_cast<std::uint32_t>(index), .kind = Kind::kFlow});
  }

  // Rates of computations beside NCCL's kernels, of flows that started or ended, and of flows that share their links.
  void share() {
    if (computing_) computing_->settle(clock(), [this](TaskId id, double date) { computed_at(id, date); });
    if (!shares_ || shares_->is_settled()) return;
    for (const std::size_t index : shares_->settle()) {
      Channel& channel = channels_[index];
      const double rate = shares_->rate(index);
      if (rate == channel.flow_rate && channel.flow_seen < clock_) continue;
      record(index, channel.flow_rate * (clock_ - channel.flow_seen));
      channel.flow_left = std::max(0.0, channel.flow_left - channel.flow_rate * (clock_ - channel.flow_seen));
      channel.flow_seen = clock_;
      channel.flow_rate = rate;
      end_flow_at(index, clock_ + channel.flow_left / rate);
    }
  }

  // Records the bytes sent since the last record, at one rate.
  void record(std::size_t index, double bytes) {
    Channel& channel = channels_[index];
    if (!options_.record_flows || bytes <= 0) return;
    const double since = channel.flow_recorded > 0 ? channel.flow_seen - zero_ : channel.flow_start;
    timeline_.flows.push_back({static_cast<int>(index), since, now(), bytes});
    channel.flow_recorded += bytes;
  }

  void flow_ended(std::size_t index) {
    Channel& channel = channels_[index];
    const double bytes = channel.flow_bytes;
    if (shares_ && !channel.limits.contended.empty()) shares_->go(index);
    channel.remaining -= bytes;
    channel.last_sent = now();
    record(index, bytes - channel.flow_recorded);
    channel.flow_recorded = 0;
    if (channel.averaged > 0) {
      channel.settle(now());
      channel.sender->average(channel.losses->state(), now());
    } else if (channel.sender) {
      const auto to = static_cast<std::uint32_t>(index);
      const double length = now() - channel.flow_start;
      channel.settle(now());
      const Acknowledgements acks = channel.sender->left(bytes, length);
      for (int i = 0; i < acks.count; ++i) {
        if (channel.limits.back.empty()) {
          back_at(to, now() + std::max(0.0, acks.delay(i)), acks.bytes);
        } else {
          answer(to, acks.bytes, now() + acks.delay(i), length / acks.count);
        }
      }
    }
    channel.flowing = false;
    if (channel.remaining <= 0) {
      transfer_left(index);
    } else {
      pump(index);
    }
    start_ready();
    if (engine_) share();
  }

  // Acknowledgements arrive at the return links over `length`, behind the data there; those after the first one's return
  // are ignored. If a piece takes longer than a round trip to leave, the first ones arrived before its last byte left.
  void answer(std::uint32_t index, double bytes, double due, double length) {
    const double way_back = channels_[index].connection->route.latency.value;
    Answer answer{.channel = index, .bytes = bytes, .begin = due - way_back, .due = due};
    answer.end = answer.begin + std::min(length, way_back);
    const std::uint32_t place = answers_.add(answer);
    if (answer.end <= now()) return answered(place);
    schedule(answer.end - now(), {.index = place, .kind = Kind::kAnswered});
  }

  void answered(std::uint32_t place) {
    const Answer& answer = answers_[place];
    const double back = queues_->back(channels_[answer.channel].limits.back, answer.begin, answer.end, answer.due);
    back_at(answer.channel, std::max(now(), back), answer.bytes);
    answers_.free(place);
  }

  void back_at(std::uint32_t index, double date, double bytes) {
    Channel& channel = channels_[index];
    channel.returns.add(date, bytes);
    if (channel.waits()) wait_for_acknowledgements(index);
  }

  // A channel counts acknowledgements when it sends; only one whose window is full needs to be woken by them.
  void wait_for_acknowledgements(std::size_t index) {
    Channel& channel = channels_[index];
    if (channel.returns.empty() || zero_ + channel.returns.front().date >= channel.wake) return;
    channel.wake = zero_ + channel.returns.front().date;
    schedule_at({channel.wake, static_cast<std::uint32_t>(index), Kind::kAcknowledgement});
  }

  void acknowledged(std::uint32_t index) {
    Channel& channel = channels_[index];
    channel.wake = INFINITY;
    if (!channel.waits()) return;
    channel.settle(now());
    pump(index);
  }

  // The last byte of the head transfer is on the wire: it arrives one latency later, and the next transfer may start.
  void transfer_left(std::size_t index) {
    Channel& channel = channels_[index];
    const TaskId id = channel.head;
    complete_after(id, channel.connection->route.latency.value);
    channel.head = std::exchange(next_[id], kNoTask);  // it may recur
    if (channel.head == kNoTask) {
      channel.tail = kNoTask;
    } else {
      begin(index);
    }
  }

  Timeline finish() {
    if (completed_ != graph_.tasks().size()) {
      throw std::logic_error(
          fmt::format("{} of {} tasks never finished", graph_.tasks().size() - completed_, graph_.tasks().size()));
    }
    for (const double time : timeline_.finish) timeline_.end = std::max(timeline_.end, Seconds{time});
    for (auto& channel : channels_) timeline_.connections.push_back(channel.state_after(timeline_.end));
    return std::move(timeline_);
  }

  const TaskGraph& graph_;
  SimulationOptions options_;
  SimgridEngine* engine_ = nullptr;              // only on request
  std::optional<FairShares> shares_;             // else, where connections share links
  std::optional<DeviceComputations> computing_;  // where NCCL's kernels hold multiprocessors
  std::optional<LinkQueues> queues_;             // if acknowledgements wait behind data
  double clock_ = 0, zero_ = 0;                  // clock_: when the engine is not used; zero_: start of this run
  Timeline timeline_;
  Progress progress_;
  std::vector<TaskId> next_;  // per task: the next one that waits for the same channel, of channels not alone
  std::vector<TaskId> starting_;
  std::vector<std::uint16_t> arrivals_;  // per task: how often a repeated transfer has arrived
  std::vector<Channel> channels_;
  Answers answers_;
  Events events_;
  double wake_date_ = INFINITY;
  std::size_t completed_ = 0;
};

}  // namespace

void reserve_network(std::size_t links) { SimgridEngine::reserve(links); }
bool engine_has_run() { return SimgridEngine::exists(); }

Timeline simulate(const TaskGraph& graph, const std::vector<ConnectionState>& before, const SimulationOptions& options,
                  const Successors* known, Timeline memory) {
  if (graph.tasks().empty()) return {};
  if (known) return Run(graph, before, options, *known, std::move(memory)).run();
  return Run(graph, before, options, Successors(graph), std::move(memory)).run();
}

}  // namespace slmsim
