#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/collective/communicator.h"
#include "sim/collective/peers.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/stage_program.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/host_queue.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/pipeline_walk.h"

namespace slmsim {
namespace {

// With more transfers per iteration, collectives are aggregated; this number takes a second or two to simulate.
constexpr double kMostTransfers = 1e6;

// GPUs of a stage that communicate with each other.
struct Group {
  std::vector<std::size_t> ranks;
  Communicator communicator;
};

// A stage while its tasks are made.
struct StageState {
  StageProgram program;
  std::map<Axes, std::vector<Group>> groups;  // by the axes that they span
};

class OperatorRun {
 public:
  explicit OperatorRun(const LowerRequest& request)
      : request_(request),
        plan_(request.plan),
        how_(request.plan.operators()),
        work_(request.plan.workload),
        graph_(begin_graph(request)),
        peers_(graph_, request.network, request.scenario.nccl_setup()) {
    sequences_ = micro_batch_sequences(plan_, request.scenario.training);
    layers_ = layer_count(request.operators);
    std::vector<bool> binds(request.scenario.platform.devices.size(), request.hosts_apart);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      StageState state;
      state.program = stage_program(request.operators, plan_.stages[s], sequences_, plan_.recompute, request.scenario,
                                    summed_bytes(plan_, request.scenario), how_.schedule == Schedule::kZeroBubble);
      steps_.push_back(schedule_steps(plan_, s, request.micro_batches()));
      mark_binding_hosts(state.program, plan_.stages[s].mesh, binds);
      stages_.push_back(std::move(state));
    }
    hosts_ = HostQueue(std::move(binds));
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      for (const Axes axes : axes_used(s)) {
        for (auto& ranks : plan_.stages[s].groups(axes)) {
          std::vector<int> devices;
          devices.reserve(ranks.size());
          for (const std::size_t rank : ranks) devices.push_back(plan_.stages[s].mesh[rank]);
          stages_[s].groups[axes].push_back(
              {std::move(ranks),
               Communicator(graph_, request.network, request.scenario.nccl_setup(), std::move(devices))});
        }
      }
    }
    if (const double transfers = transfers_by_steps(); transfers <= kMostTransfers) {
      graph_.reserve(static_cast<std::size_t>(transfers));
    } else {
      for (auto& stage : stages_) {
        for (auto& [axes, groups] : stage.groups) {
          for (auto& group : groups) group.communicator.aggregate();
        }
      }
    }
    last_.assign(request.scenario.platform.devices.size(), kNoTask);
  }

  Lowered run() {
    launch();
    for (int step = 0; step < work_.steps; ++step) {
      run_micro_batches();
      const bool is_last = step + 1 == work_.steps;
      for (std::size_t s = 0; s < stages_.size() && work_.backward; ++s) update(s, is_last);
    }
    graph_.delay({0}, graph_.tag({.name = "end of iteration"}), last_);
    return {std::move(graph_), basis_of_computation()};
  }

 private:
  // Number of transfers of one iteration's collectives by steps.
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
          if (segment.then) all += work_.steps * plan_.micro_batches * transfers(*segment.then);
        }
      }
      const HeldParameters held = held_parameters(request_.operators, plan_.stages[s]);
      for (Axes axes = 1; axes <= kAllAxes; ++axes) {
        const double size = held.shared_along[axes] * element_bytes(request_.scenario.training.gradient_precision);
        all += transfers({Collective::kAllReduce, Bytes{size}, axes, false, how_.hierarchical, how_.pieces});
      }
      if (how_.optimizer == Optimizer::kDivided)
        all +=
            transfers({.collective = Collective::kAllGather, .size = Bytes{held.all * element_bytes(how_.gathered)}});
    }
    return all;
  }

  // The axes along which a stage exchanges data.
  std::set<Axes> axes_used(std::size_t s) const {
    const Stage& stage = plan_.stages[s];
    std::set<Axes> used = {within(kAllAxes, stage.shape())};  // gathers the data that neighbouring stages send
    for (const auto* segments : {&stages_[s].program.forward, &stages_[s].program.backward}) {
      for (const auto& segment : *segments) {
        if (segment.then) used.insert(within(segment.then->axes, stage.shape()));
      }
    }
    const HeldParameters held = held_parameters(request_.operators, stage);
    for (Axes axes = 1; axes <= kAllAxes; ++axes) {
      if (held.shared_along[axes] > 0) used.insert(axes);
    }
    for (const Division* needed : {&stage.shardings.front(), &stage.shardings.back()})
      used.insert(axes_gathered(*needed, stage.shape()));
    used.erase(0);
    return used;
  }

  void launch() {
    const Seconds overhead = driver_launch(request_);
    if (overhead <= Seconds{0}) return;
    const TagId tag = graph_.tag({"launch", TaskClass::kLaunch});
    for (const auto& stage : plan_.stages) {
      for (const int device : stage.mesh) compute(device, overhead, tag, kNoTask);
    }
  }

  void run_micro_batches() {
    const PipelineActs acts = {
        .compute = [this](std::size_t s, const Step& step, const Tasks& inputs) { return run_step(s, step, inputs); },
        .send = [this](std::size_t from, std::size_t to, const Step& step, const Tasks& ready,
                       const Tasks& posted) { return send(from, to, step, ready, posted); },
        .last = [this](std::size_t s) { return last_of(s); },
        .wait = [this](std::size_t s, const Step& step, const std::vector<Tasks>& after) { wait(s, step, after); }};
    walk_pipeline(graph_, how_.order, 1, steps_, acts, how_.ahead > 0 ? TickOrder::kProduced : TickOrder::kConsumed);
  }

  Tasks run_step(std::size_t s, const Step& step, const Tasks& inputs) {
    if (step.weights)
      return run_segments(s, {stages_[s].program.weights}, Pass::kBackward,
                          fmt::format("weights mb{}", step.micro_batch), inputs);
    const auto& segments = step.forward ? stages_[s].program.forward : stages_[s].program.backward;
    const Pass pass = step.forward ? Pass::kForward : Pass::kBackward;
    return run_segments(s, segments, pass, fmt::format("{} mb{}", step.forward ? "fwd" : "bwd", step.micro_batch),
                        inputs);
  }

  Tasks last_of(std::size_t s) const {
    Tasks last;
    for (const int device : plan_.stages[s].mesh) last.push_back(last_[device]);
    return last;
  }

  void wait(std::size_t s, const Step& step, const std::vector<Tasks>& after) {
    for (std::size_t rank = 0; rank < plan_.stages[s].mesh.size(); ++rank) {
      TaskId& last = last_[plan_.stages[s].mesh[rank]];
      Tasks all = {last};
      for (const Tasks& tasks : after) all.push_back(tasks[rank]);
      last = joined(graph_, step, all);
    }
  }

  // Collectives block their GPU's stream: the next computation waits for the result.
  Tasks run_segments(std::size_t s, const std::vector<Segment>& segments, Pass pass, const std::string& what,
                     const Tasks& inputs) {
    const auto& mesh = plan_.stages[s].mesh;
    Tasks now(mesh.size());
    for (const auto& segment : segments) {
      const std::string where = layers_text(segment.first_layer, segment.last_layer, layers_);
      const TagId tag = graph_.tag({fmt::format("{} {}", what, where), class_of(pass), pass});
      const bool is_first = &segment == &segments.front();
      for (std::size_t rank = 0; rank < mesh.size(); ++rank) {
        const TaskId input = is_first && !inputs.empty() ? inputs[rank] : kNoTask;
        const int device = mesh[rank];
        TaskId& last = last_[device];
        now[rank] = last = hosts_.run(graph_, static_cast<std::size_t>(device), device,
                                      {segment.time[rank], segment.host, segment.work[rank]}, tag, {last, input});
      }
      if (!segment.then) continue;
      const std::string name = fmt::format("{} {} {}", name_of(*segment.then), what, where);
      now = collective(s, *segment.then, graph_.tag({name, TaskClass::kCollective, pass}), now);
    }
    return now;
  }

  static std::string name_of(const CollectiveCall& call) {
    if (call.all_to_all) return "all-to-all";
    constexpr std::array kNames = {"all-reduce", "all-gather", "reduce-scatter"};
    return kNames[static_cast<std::size_t>(call.collective)];
  }

  Tasks collective(std::size_t s, const CollectiveCall& call, TagId tag, const Tasks& ready) {
    const auto found = stages_[s].groups.find(within(call.axes, plan_.stages[s].shape()));
    if (found == stages_[s].groups.end()) return ready;
    Tasks done = ready;
    for (auto& [ranks, communicator] : found->second) {
      Tasks before;
      std::vector<int> devices;
      for (const std::size_t rank : ranks) {
        before.push_back(ready[rank]);
        devices.push_back(plan_.stages[s].mesh[rank]);
      }
      const Tasks after =
          call.all_to_all ? peers_.all_to_all(devices, call.size, tag, before) : communicator.run(call, tag, before);
      for (std::size_t i = 0; i < ranks.size(); ++i) done[ranks[i]] = after[i];
    }
    for (std::size_t rank = 0; rank < done.size(); ++rank) last_[plan_.stages[s].mesh[rank]] = done[rank];
    return done;
  }

  TaskId compute(int device, Seconds time, TagId tag, TaskId after, Flops work = {}) {
    TaskId& last = last_[device];
    return last = graph_.compute(device, time, tag, std::array{last, after}, {work});
  }

  // Activations (or their gradients) of one micro-batch between neighbouring stages. Each pair of GPUs carries its
  // part; where the receiving stage needs all of them on every GPU, they are gathered inside the receiving mesh (Alpa's
  // cross-mesh resharding with local all-gather, arXiv 2211.05322).
  SendEnds send(std::size_t from, std::size_t to, const Step& step, const Tasks& ready, const Tasks& posted) {
    const TagId tag = send_tag(graph_, step);
    const auto& source = plan_.stages[from];
    const auto& target = plan_.stages[to];
    const Stage& earlier = from < to ? source : target;
    const Bytes all{request_.operators[earlier.last - 1].outputs * sequences_ *
                    element_bytes(request_.scenario.training.precision)};
    const std::size_t pairs = std::max(source.mesh.size(), target.mesh.size());
    std::vector<Tasks> parts(target.mesh.size()), left(source.mesh.size());
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const std::size_t a = pair * source.mesh.size() / pairs, b = pair * target.mesh.size() / pairs;
      const Bytes part = all / static_cast<double>(pairs);
      const Peers::SendEnd passed = peers_.pass(source.mesh[a], target.mesh[b], part, tag, ready[a], posted, b);
      parts[b].push_back(passed.received);
      left[a].push_back(passed.sent);
    }
    Tasks arrived, sent;
    for (const auto& part : parts) arrived.push_back(joined(graph_, step, part));
    if (!posted.empty()) {
      for (const auto& tasks : left) sent.push_back(joined(graph_, step, tasks));
    }
    const Axes axes = axes_gathered(from < to ? target.shardings.front() : target.shardings.back(), target.shape());
    if (axes == 0) return {sent, arrived};
    const double groups = static_cast<double>(target.mesh.size()) / span(axes, target.shape());
    for (auto& [ranks, communicator] : stages_[to].groups.at(axes)) {
      Tasks before;
      for (const std::size_t rank : ranks) before.push_back(arrived[rank]);
      const TagId gather =
          graph_.tag({"all-gather " + graph_.tags()[tag].name, TaskClass::kCollective, graph_.tags()[tag].pass});
      const Tasks after = communicator.run({Collective::kAllGather, all / groups}, gather, before);
      for (std::size_t i = 0; i < ranks.size(); ++i) arrived[ranks[i]] = after[i];
    }
    return {sent, arrived};
  }

  // The optimizer's step, with its exchange.
  void update(std::size_t s, bool is_last) {
    const Stage& stage = plan_.stages[s];
    const HeldParameters held = held_parameters(request_.operators, stage);
    Tasks ready;
    for (const int device : stage.mesh) ready.push_back(last_[device]);
    if (work_.exchange == Exchange::kGradients) ready = share_gradients(s, held, std::move(ready));
    const double updated = updated_parameters(plan_, stage, held);
    const TagId adam = graph_.tag({"adam", TaskClass::kOptimizer});
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank)
      ready[rank] = compute(stage.mesh[rank], adam_on(stage.mesh[rank], updated), adam, ready[rank]);
    if (how_.optimizer == Optimizer::kDivided) {
      collective(s, {Collective::kAllGather, Bytes{held.all * element_bytes(how_.gathered)}},
                 graph_.tag({.name = "all-gather parameters"}), ready);
    }
    if (work_.exchange == Exchange::kParameters && is_last) average_parameters(s, held, std::move(ready));
  }

  Tasks share_gradients(std::size_t s, const HeldParameters& held, Tasks ready) {
    const bool scatter =
        how_.optimizer == Optimizer::kDivided && how_.gradient_collective == GradientCollective::kReduceScatter;
    for (Axes axes = 1; axes <= kAllAxes; ++axes) {
      const Bytes size{held.shared_along[axes] * element_bytes(request_.scenario.training.gradient_precision)};
      if (size <= Bytes{0}) continue;
      const CollectiveCall call{scatter ? Collective::kReduceScatter : Collective::kAllReduce,
                                size,
                                axes,
                                false,
                                how_.hierarchical && !scatter,
                                how_.pieces};
      ready = collective(s, call, graph_.tag({.name = name_of(call) + " grads"}), ready);
    }
    return ready;
  }

  void average_parameters(std::size_t s, const HeldParameters& held, Tasks ready) {
    for (Axes axes = 1; axes <= kAllAxes; ++axes) {
      const Bytes size{held.shared_along[axes] * element_bytes(request_.scenario.training.precision)};
      if (size <= Bytes{0}) continue;
      const CollectiveCall call{Collective::kAllReduce, size, axes, false, how_.hierarchical, how_.pieces};
      ready = collective(s, call, graph_.tag({.name = "all-reduce parameters"}), ready);
    }
  }

  const Gpu& gpu(int device) const { return request_.scenario.platform.devices[device].gpu; }

  Seconds adam_on(int device, double parameters, TimeBasis* basis = nullptr) const {
    return update_time(parameters, gpu(device), request_.scenario.training.update(), request_.scenario.software, basis);
  }

  // Basis over all GPUs, without recomputation; nothing where no GPU has measured kernels.
  std::optional<TimeBasis> basis_of_computation() const {
    if (!has_measured_kernels(request_)) return std::nullopt;
    TimeBasis sum;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      const double updated = updated_parameters(plan_, stage, held_parameters(request_.operators, stage));
      for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
        TimeBasis own;
        if (work_.backward) adam_on(stage.mesh[rank], updated, &own);
        own += stages_[s].program.basis[rank] * plan_.micro_batches;
        sum += own * work_.steps;
      }
    }
    return sum;
  }

  const LowerRequest& request_;
  const Plan& plan_;
  const OperatorPlan& how_;
  const Workload& work_;
  TaskGraph graph_;
  Peers peers_;
  double sequences_ = 0;
  int layers_ = 0;
  std::vector<StageState> stages_;
  std::vector<std::vector<Step>> steps_;
  HostQueue hosts_{{}};  // by device
  Tasks last_;           // per device: the end of its stream
};

}  // namespace

std::vector<Step> schedule_steps(const Plan& plan, std::size_t stage, int count) {
  const bool backward = plan.workload.backward;
  const OperatorPlan& how = plan.operators();
  const int ahead =
      backward ? micro_batches_in_flight(how.schedule, count, plan.stages.size(), stage, how.ahead) : count;
  if (how.schedule == Schedule::kZeroBubble && backward)
    return zero_bubble_steps(ahead, count, static_cast<int>(stage));
  return alternating_steps(ahead, count, backward);
}

Lowered lower_operators(const LowerRequest& request) { return OperatorRun(request).run(); }

}  // namespace slmsim
