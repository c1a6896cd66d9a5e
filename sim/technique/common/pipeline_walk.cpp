#include "sim/technique/common/pipeline_walk.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace slmsim {
namespace {

using Steps = std::vector<std::vector<Step>>;

[[noreturn]] void stuck() { throw std::logic_error("stages of a pipeline wait for each other"); }

// Calls `go_on(stage)` for each stage in turn until none advances.
template <class GoOn>
void take_turns(std::size_t stages, GoOn go_on) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < stages; ++s) {
      while (go_on(s)) moved = true;
    }
  }
}

// Computation waits only for its inputs: kAsynchronous and kAlpa.
class FreeWalk {
 public:
  FreeWalk(TaskGraph& graph, SendOrder order, TickOrder when, int chunks, const Steps& steps, const PipelineActs& acts)
      : graph_(graph), chunks_(chunks), steps_(steps), acts_(acts), next_(steps.size(), 0) {
    if (order != SendOrder::kAlpa) return;
    for (auto& order_of_messages : boundary_orders(steps, when))
      boundaries_.push_back({std::move(order_of_messages), 0, {}, {}});
  }

  void run() {
    take_turns(steps_.size(), [&](std::size_t s) { return go_on(s); });
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (next_[s] != steps_[s].size()) stuck();
    }
  }

 private:
  // Between two stages: the messages in the order of sending, and the last tasks of the stream on either side.
  struct Boundary {
    std::vector<Step> messages;
    std::size_t next = 0;
    Tasks lower, upper;
  };
  using Key = std::tuple<int, bool, int>;  // virtual stage, direction, micro-batch

  int count() const { return static_cast<int>(steps_.size()) * chunks_; }
  int place(std::size_t s, const Step& step) const {
    return step.chunk * static_cast<int>(steps_.size()) + static_cast<int>(s);
  }

  bool go_on(std::size_t s) {
    if (next_[s] == steps_[s].size()) return false;
    const Step& step = steps_[s][next_[s]];
    const int at = place(s, step);
    const bool has_input = !step.weights && (step.forward ? at > 0 : at + 1 < count());
    const auto input = arrived_.find({at, step.forward, step.micro_batch});
    if (has_input && input == arrived_.end()) return false;
    ++next_[s];
    const Tasks done = acts_.compute(s, step, has_input ? input->second : Tasks{});
    const int to = step.forward ? at + 1 : at - 1;
    if (step.weights || to < 0 || to >= count()) return true;
    if (boundaries_.empty()) {
      const auto target = static_cast<std::size_t>(to) % steps_.size();
      arrived_[{to, step.forward, step.micro_batch}] = acts_.send(s, target, step, done, {}).received;
    } else {
      computed_[{at, step.forward, step.micro_batch}] = done;
      pass(static_cast<std::size_t>(std::min(at, to)));
    }
    return true;
  }

  // Sends all computed messages whose turn it is.
  void pass(std::size_t boundary) {
    Boundary& b = boundaries_[boundary];
    for (; b.next < b.messages.size(); ++b.next) {
      const Step& step = b.messages[b.next];
      const std::size_t from = boundary + (step.forward ? 0 : 1), to = boundary + (step.forward ? 1 : 0);
      const auto computed = computed_.find({static_cast<int>(from), step.forward, step.micro_batch});
      if (computed == computed_.end()) return;
      Tasks& sender = step.forward ? b.lower : b.upper;
      Tasks& receiver = step.forward ? b.upper : b.lower;
      Tasks ready = computed->second;
      if (sender.empty()) sender.assign(ready.size(), kNoTask);
      for (std::size_t i = 0; i < ready.size(); ++i) ready[i] = joined(graph_, step, {ready[i], sender[i]});
      if (receiver.empty()) receiver.assign(acts_.last(to).size(), kNoTask);
      const SendEnds done = acts_.send(from, to, step, ready, receiver);
      for (std::size_t i = 0; i < ready.size(); ++i) sender[i] = done.sent[i] == kNoTask ? ready[i] : done.sent[i];
      receiver = done.received;
      arrived_[{static_cast<int>(to), step.forward, step.micro_batch}] = done.received;
    }
  }

  TaskGraph& graph_;
  int chunks_;
  const Steps& steps_;
  const PipelineActs& acts_;
  std::vector<std::size_t> next_;
  std::vector<Boundary> boundaries_;  // for kAlpa
  std::map<Key, Tasks> arrived_;      // inputs by receiver
  std::map<Key, Tasks> computed_;     // by sender
};

// Computation and messages form one sequence of commands: kDeepSpeed and kMegatron.
class StreamWalk {
 public:
  StreamWalk(SendOrder order, const Steps& steps, const PipelineActs& acts) : acts_(acts), rows_(steps.size()) {
    const int stages = static_cast<int>(steps.size());
    for (int s = 0; s < stages; ++s) {
      const auto at = static_cast<std::size_t>(s);
      rows_[at].commands = stage_commands(order, steps[at], stages, s);
    }
  }

  void run() {
    take_turns(rows_.size(), [&](std::size_t s) { return go_on(s); });
    for (const Row& row : rows_) {
      if (row.next != row.commands.size()) stuck();
    }
  }

 private:
  struct Row {
    std::vector<Command> commands;
    std::size_t next = 0;
    bool posted = false;  // of the next exchange
  };
  // A message between two stages: the tasks after which each end posted it, then its results.
  struct Message {
    Tasks ready, posted;
    bool has_sender = false, has_receiver = false, made = false;
    SendEnds done;
  };

  bool go_on(std::size_t s) {
    Row& row = rows_[s];
    if (row.next == row.commands.size()) return false;
    if (const Command& command = row.commands[row.next]; command.act == Command::Act::kCompute) {
      acts_.compute(s, command.step, {});
      ++row.next;
      return true;
    }
    std::size_t end = row.next + 1;
    while (row.commands[end - 1].with_next) ++end;
    const bool news = !row.posted;
    if (news) post(s, row, end);
    std::vector<Tasks> after;
    for (std::size_t i = row.next; i < end; ++i) {
      const Command& command = row.commands[i];
      const Message& message = message_of(s, command);
      if (!message.made) return news;
      after.push_back(command.act == Command::Act::kSend ? message.done.sent : message.done.received);
    }
    acts_.wait(s, row.commands[row.next].step, after);
    row.next = end;
    row.posted = false;
    return true;
  }

  void post(std::size_t s, Row& row, std::size_t end) {
    row.posted = true;
    const Tasks last = acts_.last(s);
    for (std::size_t i = row.next; i < end; ++i) {
      const Command& command = row.commands[i];
      Message& message = message_of(s, command);
      const bool is_send = command.act == Command::Act::kSend;
      (is_send ? message.ready : message.posted) = last;
      (is_send ? message.has_sender : message.has_receiver) = true;
      if (!message.has_sender || !message.has_receiver) continue;
      const std::size_t lower = boundary_of(s, command);
      const auto [from, to] = command.step.forward ? std::pair{lower, lower + 1} : std::pair{lower + 1, lower};
      message.done = acts_.send(from, to, command.step, message.ready, message.posted);
      message.made = true;
    }
  }

  // The lower of the two stages.
  static std::size_t boundary_of(std::size_t s, const Command& command) {
    return (command.act == Command::Act::kSend) == command.step.forward ? s : s - 1;
  }
  Message& message_of(std::size_t s, const Command& command) {
    return messages_[{boundary_of(s, command), command.step.forward, command.step.micro_batch}];
  }

  const PipelineActs& acts_;
  std::vector<Row> rows_;
  std::map<std::tuple<std::size_t, bool, int>, Message> messages_;
};

}  // namespace

TagId send_tag(TaskGraph& graph, const Step& step) {
  return graph.tag({std::string(step.forward ? "send act mb" : "send grad mb") + std::to_string(step.micro_batch),
                    TaskClass::kSend, step.forward ? Pass::kForward : Pass::kBackward});
}

Tasks distinct_of(const Tasks& tasks) {
  Tasks distinct;
  distinct.reserve(tasks.size());
  for (const TaskId task : tasks) {
    if (task != kNoTask && std::find(distinct.begin(), distinct.end(), task) == distinct.end())
      distinct.push_back(task);
  }
  return distinct;
}

TaskId joined(TaskGraph& graph, const Step& step, const Tasks& tasks) {
  const Tasks distinct = distinct_of(tasks);
  if (distinct.empty()) return kNoTask;
  return distinct.size() == 1 ? distinct.front() : graph.delay({0}, send_tag(graph, step), distinct);
}

void walk_pipeline(TaskGraph& graph, SendOrder order, int chunks, const Steps& steps, const PipelineActs& acts,
                   TickOrder when) {
  if (order == SendOrder::kDeepSpeed || order == SendOrder::kMegatron)
    StreamWalk(order, steps, acts).run();
  else
    FreeWalk(graph, order, when, chunks, steps, acts).run();
}

}  // namespace slmsim
