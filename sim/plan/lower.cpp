#include "sim/plan/lower.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/plan/communicator.h"
#include "sim/plan/holding.h"
#include "sim/plan/stage_program.h"

namespace slmsim {
namespace {

using Tasks = std::vector<TaskId>;

// Beyond so many transfers per iteration collectives are aggregated: a second or two of simulation.
constexpr double kMostTransfers = 1e6;

// "L3", "L0-11"; what lies before the first layer is "embedding", behind the last "head".
std::string layers_text(int first, int last, int layers) {
  if (last < 0) return "embedding";
  if (first >= layers) return "head";
  first = std::max(first, 0);
  last = std::min(last, layers - 1);
  return first == last ? fmt::format("L{}", first) : fmt::format("L{}-{}", first, last);
}

// Before an iteration: what every GPU's launch takes, and the driver's messages to the farthest GPU. The driver runs with the
// first one.
Seconds launch_time(const LowerRequest& request) {
  const int driver = request.plan.stages.front().mesh.front();
  Seconds farthest{0};
  for (const auto& stage : request.plan.stages) {
    for (const int device : stage.mesh) farthest = std::max(farthest, request.network.round_trip(driver, device));
  }
  const Training& training = request.scenario.training;
  return training.iteration_overhead + farthest * training.control_round_trips;
}

// GPUs of a stage that communicate with each other.
struct Group {
  std::vector<std::size_t> ranks;
  Communicator communicator;
};

// A stage while its tasks are made.
struct StageState {
  StageProgram program;
  std::map<Axes, std::vector<Group>> groups;  // by the axes that they span
  std::vector<Step> steps;
  std::size_t next_step = 0;
  std::vector<Tasks> inputs, gradients;  // per micro-batch: what each GPU waits for; empty until it was sent
};

class Lowering {
 public:
  explicit Lowering(const LowerRequest& request)
      : request_(request),
        plan_(request.plan),
        graph_(request.network.links(), static_cast<int>(request.scenario.platform.devices.size())) {
    sequences_ = micro_batch_sequences(plan_, request.scenario.training);
    layers_ = request.operators[boost::num_vertices(request.operators) - 1].layer;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      StageState state;
      state.program = stage_program(request.operators, plan_.stages[s], sequences_, request.scenario);
      state.steps = schedule_steps(plan_, s);
      stages_.push_back(std::move(state));
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      for (const Axes axes : axes_used(s)) {
        for (auto& ranks : plan_.stages[s].groups(axes)) {
          std::vector<int> devices;
          for (const std::size_t rank : ranks) devices.push_back(plan_.stages[s].mesh[rank]);
          stages_[s].groups[axes].push_back(
              {std::move(ranks), Communicator(graph_, request.network, request.scenario, std::move(devices))});
        }
      }
    }
    if (transfers_by_steps() > kMostTransfers) {
      for (auto& stage : stages_) {
        for (auto& [axes, groups] : stage.groups) {
          for (auto& group : groups) group.communicator.aggregate();
        }
      }
    }
    last_.assign(request.scenario.platform.devices.size(), kNoTask);
  }

  TaskGraph run() {
    for (int i = 0; i < request_.iterations; ++i) iteration();
    return std::move(graph_);
  }

 private:
  // Transfers of one iteration's collectives if every chunk of them were one.
  double transfers_by_steps() const {
    double all = 0;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const auto transfers = [&](const CollectiveCall& call) {
        const auto found = stages_[s].groups.find(within(call.axes, plan_.stages[s].shape()));
        if (call.all_to_all || found == stages_[s].groups.end()) return 0.0;
        double sum = 0;
        for (const auto& group : found->second) sum += group.communicator.transfer_count(call);
        return sum;
      };
      for (const auto* segments : {&stages_[s].program.forward, &stages_[s].program.backward}) {
        for (const auto& segment : *segments) {
          if (segment.then) all += plan_.micro_batches * transfers(*segment.then);
        }
      }
      const HeldParameters held = held_parameters(request_.operators, plan_.stages[s]);
      for (Axes axes = 1; axes <= kAllAxes; ++axes) {
        const double size = held.shared_along[axes] * element_bytes(request_.scenario.training.gradient_precision);
        all += transfers({Collective::kAllReduce, Bytes{size}, axes, false, plan_.hierarchical});
      }
      if (plan_.optimizer == Optimizer::kDivided)
        all +=
            transfers({.collective = Collective::kAllGather, .size = Bytes{held.all * element_bytes(plan_.gathered)}});
    }
    return all;
  }

  // The axes along which anything of a stage is exchanged.
  std::set<Axes> axes_used(std::size_t s) const {
    const Stage& stage = plan_.stages[s];
    std::set<Axes> used = {within(kAllAxes, stage.shape())};  // gathers what neighbouring stages send
    for (const auto* segments : {&stages_[s].program.forward, &stages_[s].program.backward}) {
      for (const auto& segment : *segments) {
        if (segment.then) used.insert(within(segment.then->axes, stage.shape()));
      }
    }
    const HeldParameters held = held_parameters(request_.operators, stage);
    for (Axes axes = 1; axes <= kAllAxes; ++axes) {
      if (held.shared_along[axes] > 0) used.insert(axes);
    }
    for (const bool forward : {true, false}) used.insert(gathered_axes(stage, forward));
    used.erase(0);
    return used;
  }

  void iteration() {
    for (auto& stage : stages_) {
      stage.next_step = 0;
      stage.inputs.assign(static_cast<std::size_t>(plan_.micro_batches), {});
      stage.gradients.assign(static_cast<std::size_t>(plan_.micro_batches), {});
    }
    launch();
    run_micro_batches();
    for (std::size_t s = 0; s < stages_.size(); ++s) synchronise_and_update(s);
    barrier();
  }

  void launch() {
    const Seconds overhead = launch_time(request_);
    if (overhead <= Seconds{0}) return;
    for (const auto& stage : plan_.stages) {
      for (const int device : stage.mesh)
        compute(device, overhead, Activity::kOverhead, graph_.label("launch"), kNoTask);
    }
  }

  // Stages take turns; each goes on in its schedule as far as its inputs exist, so that tasks only wait for
  // earlier ones. Some stage can always go on: a pipeline's schedule does not deadlock.
  void run_micro_batches() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        while (can_step(s)) {
          step(s);
          moved = true;
        }
      }
    }
    for ([[maybe_unused]] const auto& stage : stages_) assert(stage.next_step == stage.steps.size());
  }

  bool can_step(std::size_t s) const {
    const StageState& state = stages_[s];
    if (state.next_step == state.steps.size()) return false;
    const auto [forward, mb] = state.steps[state.next_step];
    if (forward) return s == 0 || !state.inputs[static_cast<std::size_t>(mb)].empty();
    return s + 1 == stages_.size() || !state.gradients[static_cast<std::size_t>(mb)].empty();
  }

  void step(std::size_t s) {
    StageState& state = stages_[s];
    const auto [forward, mb] = state.steps[state.next_step++];
    auto& inputs = (forward ? state.inputs : state.gradients)[static_cast<std::size_t>(mb)];
    const auto& segments = forward ? state.program.forward : state.program.backward;
    const Tasks done = run_segments(s, segments, fmt::format("{} mb{}", forward ? "fwd" : "bwd", mb), inputs);
    if (forward && s + 1 < stages_.size()) {
      stages_[s + 1].inputs[static_cast<std::size_t>(mb)] = send(s, s + 1, done, fmt::format("send act mb{}", mb));
    }
    if (!forward && s > 0) {
      stages_[s - 1].gradients[static_cast<std::size_t>(mb)] = send(s, s - 1, done, fmt::format("send grad mb{}", mb));
    }
  }

  // Collectives block their GPU's stream: the next computation waits for the result.
  Tasks run_segments(std::size_t s, const std::vector<Segment>& segments, const std::string& what,
                     const Tasks& inputs) {
    const auto& mesh = plan_.stages[s].mesh;
    Tasks now(mesh.size());
    for (const auto& segment : segments) {
      const std::string where = layers_text(segment.first_layer, segment.last_layer, layers_);
      const auto label = graph_.label(fmt::format("{} {}", what, where));
      const bool is_first = &segment == &segments.front();
      for (std::size_t rank = 0; rank < mesh.size(); ++rank) {
        const TaskId input = is_first && !inputs.empty() ? inputs[rank] : kNoTask;
        now[rank] = compute(mesh[rank], segment.time[rank], Activity::kModel, label, input);
      }
      if (segment.then)
        now = collective(s, *segment.then, graph_.label(fmt::format("{} {} {}", name_of(*segment.then), what, where)),
                         now);
    }
    return now;
  }

  static std::string name_of(const CollectiveCall& call) {
    if (call.all_to_all) return "all-to-all";
    switch (call.collective) {
      case Collective::kAllReduce:
        return "all-reduce";
      case Collective::kAllGather:
        return "all-gather";
      case Collective::kReduceScatter:
        return "reduce-scatter";
    }
    return "";
  }

  Tasks collective(std::size_t s, const CollectiveCall& call, std::uint32_t label, const Tasks& ready) {
    const auto found = stages_[s].groups.find(within(call.axes, plan_.stages[s].shape()));
    if (found == stages_[s].groups.end()) return ready;
    Tasks done = ready;
    for (auto& [ranks, communicator] : found->second) {
      Tasks before;
      for (const std::size_t rank : ranks) before.push_back(ready[rank]);
      const Tasks after =
          call.all_to_all ? all_to_all(s, ranks, call.size, label, before) : communicator.run(call, label, before);
      for (std::size_t i = 0; i < ranks.size(); ++i) done[ranks[i]] = after[i];
    }
    for (std::size_t rank = 0; rank < done.size(); ++rank)
      last_[static_cast<std::size_t>(plan_.stages[s].mesh[rank])] = done[rank];
    return done;
  }

  // NCCL has no all-to-all of its own: grouped sends and receives between all pairs, each of a part's part.
  Tasks all_to_all(std::size_t s, const std::vector<std::size_t>& ranks, Bytes size, std::uint32_t label,
                   const Tasks& ready) {
    const auto& mesh = plan_.stages[s].mesh;
    const Bytes piece = size / static_cast<double>(ranks.size() * ranks.size());
    std::vector<Tasks> received(ranks.size());
    for (std::size_t to = 0; to < ranks.size(); ++to) received[to].push_back(ready[to]);
    for (std::size_t distance = 1; distance < ranks.size(); ++distance) {
      for (std::size_t from = 0; from < ranks.size(); ++from) {
        const std::size_t to = (from + distance) % ranks.size();
        const int connection = peer_connection(mesh[ranks[from]], mesh[ranks[to]]);
        received[to].push_back(graph_.transfer(connection, piece, label, std::array{ready[from]}));
      }
    }
    Tasks done;
    for (const auto& parts : received) done.push_back(graph_.delay({0}, label, parts));
    return done;
  }

  TaskId compute(int device, Seconds time, Activity activity, std::uint32_t label, TaskId after) {
    TaskId& last = last_[static_cast<std::size_t>(device)];
    return last = graph_.compute(device, time, activity, label, std::array{last, after});
  }

  // Activations (or their gradients) of one micro-batch between neighbouring stages. Each pair of GPUs
  // carries its part; where the receiving stage needs all of them on every GPU, they gather inside their own
  // mesh (Alpa's cross-mesh resharding with local all-gather, arXiv 2211.05322).
  Tasks send(std::size_t from, std::size_t to, const Tasks& done, const std::string& text) {
    const auto& source = plan_.stages[from];
    const auto& target = plan_.stages[to];
    const Stage& earlier = from < to ? source : target;
    const Bytes all{request_.operators[earlier.last - 1].outputs * sequences_ *
                    element_bytes(request_.scenario.training.precision)};
    const std::size_t pairs = std::max(source.mesh.size(), target.mesh.size());
    const auto label = graph_.label(text);
    std::vector<Tasks> parts(target.mesh.size());
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const std::size_t a = pair * source.mesh.size() / pairs, b = pair * target.mesh.size() / pairs;
      const int connection = peer_connection(source.mesh[a], target.mesh[b]);
      parts[b].push_back(graph_.transfer(connection, all / static_cast<double>(pairs), label, std::array{done[a]}));
    }
    Tasks arrived;
    for (const auto& part : parts) arrived.push_back(part.size() == 1 ? part.front() : graph_.delay({0}, label, part));
    const Axes axes = gathered_axes(target, from < to);
    if (axes == 0) return arrived;
    const double groups = static_cast<double>(target.mesh.size()) / span(axes, target.shape());
    for (auto& [ranks, communicator] : stages_[to].groups.at(axes)) {
      Tasks before;
      for (const std::size_t rank : ranks) before.push_back(arrived[rank]);
      const Tasks after =
          communicator.run({Collective::kAllGather, all / groups}, graph_.label("all-gather " + text), before);
      for (std::size_t i = 0; i < ranks.size(); ++i) arrived[ranks[i]] = after[i];
    }
    return arrived;
  }

  // The axes along which a stage's first (or, going backward, last) operator needs all of what its GPUs receive.
  static Axes gathered_axes(const Stage& stage, bool forward) {
    const Division& needed = forward ? stage.shardings.front() : stage.shardings.back();
    return within(kAllAxes & ~axes_of(needed, Sharding::kBatch), stage.shape());
  }

  int peer_connection(int from, int to) {
    const auto [at, is_new] = peers_.try_emplace({from, to}, 0);
    if (is_new) at->second = connect_pair(graph_, request_.network, request_.scenario, from, to);
    return at->second;
  }

  void synchronise_and_update(std::size_t s) {
    const Stage& stage = plan_.stages[s];
    const Training& training = request_.scenario.training;
    const HeldParameters held = held_parameters(request_.operators, stage);
    const bool divided = plan_.optimizer == Optimizer::kDivided;
    Tasks ready;
    for (const int device : stage.mesh) ready.push_back(last_[static_cast<std::size_t>(device)]);
    for (Axes axes = 1; axes <= kAllAxes; ++axes) {
      const Bytes gradients{held.shared_along[axes] * element_bytes(training.gradient_precision)};
      if (gradients <= Bytes{0}) continue;
      const bool scatter = divided && plan_.gradient_collective == GradientCollective::kReduceScatter;
      const CollectiveCall call{scatter ? Collective::kReduceScatter : Collective::kAllReduce, gradients, axes, false,
                                plan_.hierarchical && !scatter};
      ready = collective(s, call, graph_.label(name_of(call) + " grads"), ready);
    }
    const double updated = updated_parameters(plan_, stage, held);
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      const Gpu& gpu = request_.scenario.platform.devices[static_cast<std::size_t>(stage.mesh[rank])].gpu;
      const Seconds time =
          adam_time(updated, gpu, training.precision, training.gradient_precision, request_.scenario.efficiency);
      ready[rank] = compute(stage.mesh[rank], time, Activity::kOptimizer, graph_.label("adam"), ready[rank]);
    }
    if (divided) {
      collective(s, {Collective::kAllGather, Bytes{held.all * element_bytes(plan_.gathered)}},
                 graph_.label("all-gather parameters"), ready);
    }
  }

  void barrier() {
    const TaskId joined = graph_.delay({0}, graph_.label("end of iteration"), last_);
    for (const auto& stage : plan_.stages) {
      for (const int device : stage.mesh) last_[static_cast<std::size_t>(device)] = joined;
    }
  }

  const LowerRequest& request_;
  const Plan& plan_;
  TaskGraph graph_;
  double sequences_ = 0;
  int layers_ = 0;
  std::vector<StageState> stages_;
  Tasks last_;  // per device: the end of its stream
  std::map<std::pair<int, int>, int> peers_;
};

}  // namespace

std::vector<Step> schedule_steps(const Plan& plan, std::size_t stage) {
  const int count = plan.micro_batches;
  const int ahead = micro_batches_in_flight(plan, stage);
  std::vector<Step> steps;
  int forward = 0;
  for (; forward < ahead; ++forward) steps.push_back({true, forward});
  for (int backward = 0; backward < count; ++backward) {
    steps.push_back({false, backward});
    if (forward < count) steps.push_back({true, forward++});
  }
  return steps;
}

TaskGraph lower(const LowerRequest& request) { return Lowering(request).run(); }

// What depends on that network is in the routes, in the launch, and in the latencies of aggregated collectives.
bool lower_again(TaskGraph& graph, const LowerRequest& request) {
  const Seconds launch = launch_time(request);
  bool launched = false;
  for (const Task& task : graph.tasks()) {
    if (is_latency(task) && task.amount > 0) return false;
    launched = launched || task.activity == Activity::kOverhead;
  }
  if (launched != (launch > Seconds{0})) return false;
  graph.move_to(request.network);
  graph.set_time(Activity::kOverhead, launch);
  return true;
}

}  // namespace slmsim
