#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "sim/collective/communicator.h"
#include "sim/collective/peers.h"
#include "sim/compute/operator_graph.h"
#include "sim/engine/fold.h"
#include "sim/technique/common/host_queue.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/pipeline_walk.h"
#include "sim/technique/megatron/megatron.h"

namespace slmsim {
namespace {

class MegatronRun {
 public:
  explicit MegatronRun(const LowerRequest& request)
      : request_(request),
        m_(request.plan.megatron()),
        graph_(begin_graph(request)),
        peers_(graph_, request.network, request.scenario.nccl_setup()) {
    sequences_ = static_cast<double>(request.scenario.training.batch) / (m_.data * request.plan.micro_batches);
    layers_ = layer_count(request.operators);
    for (int s = 0; s < m_.pipeline; ++s) {
      for (const int device : request.plan.stages[s].mesh) devices_.push_back(device);
    }
    last_.assign(devices_.size(), kNoTask);
    const std::vector<int> kinds = gpu_kinds(request.scenario.platform, devices_);
    const bool sums = request.scenario.software.ddp_buckets &&
                      element_bytes(m_.gradients) > element_bytes(request.scenario.training.precision);
    const TensorDivision division{m_.tensor, m_.sequence_parallel, request.plan.recompute, TensorEnds::kDivided, sums};
    std::vector<bool> binds;
    std::map<int, std::shared_ptr<const std::vector<LayerWork>>> works;
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      auto& work = works[kinds[rank]];
      const Gpu& gpu = request.scenario.platform.devices[devices_[rank]].gpu;
      if (!work)
        work = std::make_shared<const std::vector<LayerWork>>(
            layer_work(request.operators, division, sequences_, gpu, request.scenario));
      work_.push_back(work);
      binds.push_back(host_binds(*work));
    }
    hosts_ = HostQueue(std::move(binds));
    activation_ =
        Bytes{stream_elements(request.operators) * sequences_ * element_bytes(request.scenario.training.precision)};
  }

  Lowered run() {
    assert(request_.plan.workload == Workload() && "Megatron-LM steps once per iteration");
    if (has_measured_kernels(request_)) basis_.emplace();
    const TagId launch = graph_.tag({"launch", TaskClass::kLaunch});
    for (std::size_t rank = 0; rank < devices_.size(); ++rank)
      compute(rank, request_.scenario.training.iteration_overhead, launch, kNoTask);
    pipelines();
    reduce_embedding();
    reduce_and_update();
    return {std::move(graph_), basis_};
  }

 private:
  std::size_t rank_of(int stage, int replica, int tensor) const {
    return static_cast<std::size_t>((stage * m_.data + replica) * m_.tensor + tensor);
  }

  TaskId compute(std::size_t rank, Seconds time, TagId tag, TaskId after, Flops work = {}) {
    return last_[rank] = graph_.compute(devices_[rank], time, tag, std::array{last_[rank], after}, {work});
  }

  // Replicas on GPUs equal to an earlier replica's repeat its tasks.
  void pipelines() {
    struct Known {
      int replica = 0, first = 0, end = 0;  // its connections
      TimeBasis basis;
    };
    std::vector<Known> all;
    for (int replica = 0; replica < m_.data; ++replica) {
      std::map<int, int> twins;
      const auto like = std::find_if(all.begin(), all.end(), [&](const Known& one) {
        twins = twins_of(*graph_.fold(), request_.scenario.platform, devices_at(ranks_of(one.replica)),
                         devices_at(ranks_of(replica)));
        return !twins.empty();
      });
      if (like != all.end()) {
        graph_.repeat(like->first, like->end, twins, request_.network);
        follow(replica, like->replica);
        if (basis_) *basis_ += like->basis;
        continue;
      }
      Known own{.replica = replica, .basis = basis_.value_or(TimeBasis{})};
      if (graph_.fold()) own.first = graph_.fold()->count();
      pipeline(replica);
      if (!graph_.fold()) continue;
      own.end = graph_.fold()->count();
      own.basis = own.basis * -1;
      if (basis_) own.basis += *basis_;
      all.push_back(own);
    }
  }

  void follow(int replica, int other) {
    const std::vector<std::size_t> its = ranks_of(other), own = ranks_of(replica);
    for (std::size_t i = 0; i < own.size(); ++i) {
      last_[own[i]] = last_[its[i]];
      hosts_.follow(own[i], its[i]);
    }
  }

  std::vector<std::size_t> ranks_of(int replica) const {
    std::vector<std::size_t> ranks;
    for (int s = 0; s < m_.pipeline; ++s) {
      for (int t = 0; t < m_.tensor; ++t) ranks.push_back(rank_of(s, replica, t));
    }
    return ranks;
  }

  std::vector<int> devices_at(const std::vector<std::size_t>& ranks) const {
    std::vector<int> devices;
    devices.reserve(ranks.size());
    for (const std::size_t rank : ranks) devices.push_back(devices_[rank]);
    return devices;
  }

  void pipeline(int replica) {
    std::vector<std::vector<Step>> steps;
    steps.reserve(static_cast<std::size_t>(m_.pipeline));
    for (int s = 0; s < m_.pipeline; ++s)
      steps.push_back(interleaved_steps(s, m_.pipeline, m_.chunks, request_.micro_batches()));
    const auto number = [](std::size_t s) { return static_cast<int>(s); };
    const PipelineActs acts = {
        .compute = [=, this](std::size_t s, const Step& step,
                             const Tasks& inputs) { return compute_step(number(s), replica, step, inputs); },
        .send = [=, this](std::size_t from, std::size_t to, const Step& step, const Tasks& ready,
                          const Tasks& posted) { return send(number(from), number(to), replica, step, ready, posted); },
        .last = [=, this](std::size_t s) { return last_of(number(s), replica); },
        .wait = [=, this](std::size_t s, const Step& step,
                          const std::vector<Tasks>& after) { wait(number(s), replica, step, after); }};
    walk_pipeline(graph_, m_.order, m_.chunks, steps, acts);
  }

  int virtual_stages() const { return m_.pipeline * m_.chunks; }

  Tasks last_of(int stage, int replica) const {
    const auto first = last_.begin() + static_cast<long>(rank_of(stage, replica, 0));
    return {first, first + m_.tensor};
  }

  // First and last unit: 0 the embedding, then the layers, then the head.
  std::pair<int, int> units_of(int at) const {
    const Stage& stage = request_.plan.stages[at];
    return {request_.operators[stage.first].layer + 1, request_.operators[stage.last - 1].layer + 1};
  }

  void wait(int stage, int replica, const Step& step, const std::vector<Tasks>& after) {
    for (int t = 0; t < m_.tensor; ++t) {
      TaskId& last = last_[rank_of(stage, replica, t)];
      Tasks all = {last};
      for (const Tasks& tasks : after) all.push_back(tasks[t]);
      last = joined(graph_, step, all);
    }
  }

  Tasks compute_step(int stage, int replica, const Step& step, const Tasks& inputs) {
    Tasks after = inputs.empty() ? Tasks(static_cast<std::size_t>(m_.tensor), kNoTask) : inputs;
    const auto [first, last] = units_of(step.chunk * m_.pipeline + stage);
    for (int i = 0; i <= last - first; ++i) {
      unit(stage, replica, step.forward ? first + i : last - i, step.forward,
           fmt::format("{} mb{}", step.forward ? "fwd" : "bwd", step.micro_batch), after);
      after.assign(after.size(), kNoTask);
    }
    return last_of(stage, replica);
  }

  // A layer has two blocks, attention and MLP, each with its collective.
  void unit(int stage, int replica, int unit, bool forward, const std::string& pass, const Tasks& after) {
    const bool layer = unit > 0 && unit <= layers_;
    const std::string name = pass + " " + unit_text(static_cast<std::size_t>(unit), work_.front()->size());
    const int blocks = layer ? 2 : 1;
    const Pass direction = forward ? Pass::kForward : Pass::kBackward;
    const TagId tag = graph_.tag({name, class_of(direction), direction});
    const TagId tensor = graph_.tag({"tensor " + name, TaskClass::kCollective, direction});
    // Recomputation repeats the exchanges.
    const bool again = layer && !forward && request_.plan.recompute == Recompute::kFull;
    std::vector<Exchange> calls = again ? exchanges(true, layer) : std::vector<Exchange>{};
    for (const Exchange& call : exchanges(forward, layer)) calls.push_back(call);
    for (int block = 0; block < blocks; ++block) {
      for (int t = 0; t < m_.tensor; ++t) {
        const std::size_t rank = rank_of(stage, replica, t);
        const LayerWork& work = (*work_[rank])[unit];
        if (basis_ && forward && block == 0) *basis_ += work.basis;
        last_[rank] = hosts_.run(graph_, rank, devices_[rank], stretch_of(work, forward, blocks, Part::kFirst), tag,
                                 {last_[rank], block == 0 ? after[t] : kNoTask});
      }
      // The head's input gradient is summed in the backward pass, the embedding's output in the forward pass.
      if (m_.tensor == 1 || (!layer && forward != (unit == 0))) continue;
      for (const Exchange& call : calls) {
        const Tasks done = tensor_call(stage, replica, call, tensor);
        for (int t = 0; t < m_.tensor; ++t) {
          const std::size_t rank = rank_of(stage, replica, t);
          const TaskId exchanged = done[t];
          if (!call.beside) {
            last_[rank] = exchanged;
            continue;
          }
          const HostQueue::Stretch stretch = stretch_of((*work_[rank])[unit], forward, blocks, *call.beside);
          const TaskId computed = hosts_.run(graph_, rank, devices_[rank], stretch, tag, {last_[rank], kNoTask});
          last_[rank] = graph_.delay({0}, tag, std::array{exchanged, computed});
        }
      }
    }
  }

  // Parts of a block: most of its work and, for its product divided by columns, the gradients of the input and of the
  // weights; the block's exchanges overlap with the latter (Megatron-LM's
  // LinearWithGradAccumulationAndAsyncCommunication).
  enum class Part { kFirst, kInputGradient, kWeightsGradient };
  struct Exchange {
    Collective collective;
    std::optional<Part> beside;
  };

  // Exchanges of a block, in order. Sequence parallelism gathers before a block and scatters after it, with the bytes
  // of one all-reduce; a layer's input, kept in parts, is gathered again for the gradients of the weights (arXiv
  // 2205.05198, section 4.2.2).
  std::vector<Exchange> exchanges(bool forward, bool layer) const {
    const bool hides = overlaps(forward);
    const auto beside = [&](Part part) { return hides ? std::optional(part) : std::nullopt; };
    if (!m_.sequence_parallel) return {{Collective::kAllReduce, beside(Part::kWeightsGradient)}};
    std::vector<Exchange> out = {{Collective::kAllGather, {}}};
    if (!forward && layer) out.push_back({Collective::kAllGather, beside(Part::kInputGradient)});
    out.push_back({Collective::kReduceScatter, beside(Part::kWeightsGradient)});
    return out;
  }

  bool overlaps(bool forward) const { return !forward && m_.overlap && m_.tensor > 1; }

  HostQueue::Stretch stretch_of(const LayerWork& work, bool forward, int blocks, Part part) const {
    const double share = 1.0 / blocks;
    const BoundTime& bound = work.bound;
    if (forward)
      return {work.forward * share, work.host_forward * share, work.forward_work * share, bound.forward * share};
    // Both gradients of a product take about the same time.
    const double later = overlaps(forward) && work.backward.value > 0 ? work.column_weights / work.backward : 0.0;
    const int parts = m_.sequence_parallel && blocks > 1 ? 2 : 1;  // the head gathers nothing again
    const double own = share * (part == Part::kFirst ? 1 - parts * later : later);
    Seconds of_own = bound.weights_gradient;
    if (part == Part::kFirst) of_own = bound.backward - bound.weights_gradient * (later > 0 ? parts : 0);
    return {work.backward * own, work.host_backward * own, work.backward_work * own, of_own * share};
  }

  // Starts after the GPUs' last tasks; returns the tasks for the next one to wait for.
  Tasks tensor_call(int stage, int replica, const Exchange& call, TagId tag) {
    Tasks before;
    for (int t = 0; t < m_.tensor; ++t) before.push_back(last_[rank_of(stage, replica, t)]);
    Communicator& group = tensor_group(stage, replica);
    const CollectiveCall exchange{call.collective, activation_};
    return call.beside ? group.run_beside(exchange, tag, before) : group.run(exchange, tag, before);
  }

  Communicator& tensor_group(int stage, int replica) {
    const auto found = groups_.find({stage, replica});
    if (found != groups_.end()) return found->second;
    std::vector<int> devices(static_cast<std::size_t>(m_.tensor));
    for (int t = 0; t < m_.tensor; ++t) devices[t] = devices_[rank_of(stage, replica, t)];
    return groups_.try_emplace({stage, replica}, graph_, request_.network, request_.scenario.nccl_setup(), devices)
        .first->second;
  }

  // Each rank sends its part of the activation (or its gradient) to its counterpart; the parts are gathered there.
  SendEnds send(int from, int to, int replica, const Step& step, const Tasks& ready, const Tasks& posted) {
    const TagId tag = send_tag(graph_, step);
    SendEnds out;
    for (int t = 0; t < m_.tensor; ++t) {
      const std::size_t a = rank_of(from, replica, t), b = rank_of(to, replica, t), at = static_cast<std::size_t>(t);
      const Bytes part = activation_ / m_.tensor;
      const Peers::SendEnd passed = peers_.pass(devices_[a], devices_[b], part, tag, ready[at], posted, at);
      out.received.push_back(passed.received);
      out.sent.push_back(passed.sent);
    }
    if (m_.tensor > 1 && !m_.sequence_parallel)
      out.received = tensor_group(to, replica).run({Collective::kAllGather, activation_}, tag, out.received);
    return out;
  }

  // The first and the last stage each hold a tied embedding and sum its gradients (arXiv 2104.04473, section 2.2).
  void reduce_embedding() {
    const double held = tied_parameters(request_.operators) / m_.tensor;
    if (m_.pipeline == 1 || held <= 0) return;
    const Bytes size{held * element_bytes(m_.gradients)};
    for (int replica = 0; replica < m_.data; ++replica) {
      for (int t = 0; t < m_.tensor; ++t) {
        const std::size_t first = rank_of(0, replica, t), last = rank_of(m_.pipeline - 1, replica, t);
        Communicator pair(graph_, request_.network, request_.scenario.nccl_setup(), {devices_[first], devices_[last]});
        const Tasks done = pair.run({Collective::kAllReduce, size}, graph_.tag({.name = "all-reduce embedding grads"}),
                                    std::array{last_[first], last_[last]});
        last_[first] = done[0];
        last_[last] = done[1];
      }
    }
  }

  void reduce_and_update() {
    for (int s = 0; s < m_.pipeline; ++s) {
      double held = 0;
      for (int chunk = 0; chunk < m_.chunks; ++chunk) held += parameters_of(chunk * m_.pipeline + s);
      for (int t = 0; t < m_.tensor; ++t) update(s, t, held / m_.tensor);
    }
  }

  // The replicas of rank `tensor` of a stage: gradients are summed, and each replica updates all parameters, or its
  // part of them (megatron/core/optimizer/distrib_optimizer.py). Instances of a distributed optimizer are consecutive
  // replicas; each scatters gradients inside and sums its parts with the others' (param_and_grad_buffer.py).
  void update(int stage, int tensor, double held) {
    const Training& training = request_.scenario.training;
    const int parts = m_.optimizer_parts();
    Tasks ready;
    for (int replica = 0; replica < m_.data; ++replica) ready.push_back(last_[rank_of(stage, replica, tensor)]);
    const Bytes gradients{held * element_bytes(m_.gradients)};
    const auto run = [&](std::vector<ReplicaGroup>& groups, Collective collective, Bytes size, const char* name) {
      for (auto& [replicas, communicator] : groups) {
        Tasks before;
        for (const std::size_t replica : replicas) before.push_back(ready[replica]);
        const Tasks done = communicator.run({collective, size}, graph_.tag({.name = name}), before);
        for (std::size_t i = 0; i < replicas.size(); ++i) ready[replicas[i]] = done[i];
      }
    };
    // Replicas by instance and part.
    const MeshShape shape = {m_.data / parts, parts};
    std::vector<ReplicaGroup> inside = replica_groups(stage, tensor, groups_along(2, shape));
    std::vector<ReplicaGroup> across = replica_groups(stage, tensor, groups_along(1, shape));
    run(inside, Collective::kReduceScatter, gradients, "reduce-scatter grads");
    run(across, Collective::kAllReduce, gradients / parts, "all-reduce grads");
    const TagId adam = graph_.tag({"adam", TaskClass::kOptimizer});
    for (int replica = 0; replica < m_.data; ++replica) {
      const std::size_t rank = rank_of(stage, replica, tensor);
      const Gpu& gpu = request_.scenario.platform.devices[devices_[rank]].gpu;
      const Seconds stepped = update_time(held / parts, gpu, {training.precision, m_.gradients, training.optimizer},
                                          request_.scenario.software, basis_ ? &*basis_ : nullptr);
      ready[replica] = compute(rank, stepped, adam, ready[replica]);
    }
    run(inside, Collective::kAllGather, Bytes{held * element_bytes(training.precision)}, "all-gather parameters");
    if (parts > 1) {
      for (int replica = 0; replica < m_.data; ++replica) last_[rank_of(stage, replica, tensor)] = ready[replica];
    }
  }

  struct ReplicaGroup {
    std::vector<std::size_t> replicas;
    Communicator communicator;
  };
  // Without groups in which a replica would be alone.
  std::vector<ReplicaGroup> replica_groups(int stage, int tensor, const std::vector<std::vector<std::size_t>>& groups) {
    std::vector<ReplicaGroup> out;
    for (const auto& replicas : groups) {
      if (replicas.size() == 1) continue;
      std::vector<int> devices;
      devices.reserve(replicas.size());
      for (const std::size_t replica : replicas)
        devices.push_back(devices_[rank_of(stage, static_cast<int>(replica), tensor)]);
      Communicator communicator(graph_, request_.network, request_.scenario.nccl_setup(), std::move(devices));
      out.push_back({replicas, std::move(communicator)});
    }
    return out;
  }

  double parameters_of(int at) const {
    const auto [first, last] = units_of(at);
    double sum = 0;
    for (int unit = first; unit <= last; ++unit) sum += (*work_.front())[unit].parameters;
    // The last stage has its own copy of a tied embedding.
    if (at > 0 && at + 1 == virtual_stages()) sum += tied_parameters(request_.operators);
    return sum;
  }

  const LowerRequest& request_;
  const MegatronPlan m_;
  TaskGraph graph_;
  Peers peers_;
  HostQueue hosts_{{}};
  std::optional<TimeBasis> basis_;
  double sequences_ = 0;
  int layers_ = 0;
  std::vector<int> devices_;
  std::vector<std::shared_ptr<const std::vector<LayerWork>>> work_;  // per rank; shared by GPUs of a kind
  Bytes activation_;
  Tasks last_;
  std::map<std::pair<int, int>, Communicator> groups_;
};

}  // namespace

Lowered lower_megatron(const LowerRequest& request) { return MegatronRun(request).run(); }

}  // namespace slmsim
