#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <map>
#include <memory>

#include "sim/collective/communicator.h"
#include "sim/collective/peers.h"
#include "sim/compute/operator_graph.h"
#include "sim/engine/fold.h"
#include "sim/technique/common/pipeline_walk.h"
#include "sim/technique/megatron/megatron.h"
#include "sim/technique/megatron/tensor_group.h"

namespace slmsim {
namespace {

class MegatronRun {
 public:
  explicit MegatronRun(const LowerRequest& request)
      : request_(request),
        m_(request.plan.megatron()),
        graph_(begin_graph(request)),
        peers_(graph_, request.network, request.scenario.nccl_setup()),
        rules_{request, m_} {
    const double sequences =
        static_cast<double>(request.scenario.training.batch) / (m_.data * request.plan.micro_batches);
    const Platform& platform = request.scenario.platform;
    rules_.layers = layer_count(request.operators);
    rules_.activation =
        Bytes{stream_elements(request.operators) * sequences * element_bytes(request.scenario.training.precision)};
    rules_.vm_kinds = vm_kinds(platform);
    if (has_measured_kernels(request)) basis_.emplace();
    std::vector<int> devices;
    for (int s = 0; s < m_.pipeline; ++s) {
      for (const int device : request.plan.stages[s].mesh) devices.push_back(device);
    }
    const std::vector<int> kinds = gpu_kinds(platform, devices);
    const bool sums = request.scenario.software.ddp_buckets &&
                      element_bytes(m_.gradients) > element_bytes(request.scenario.training.precision);
    // After a pass a kernel adds its gradients to fp32 sums.
    const double summed =
        sums ? element_bytes(request.scenario.training.precision) + 2 * element_bytes(m_.gradients) : 0;
    const TensorDivision division{m_.tensor, m_.sequence_parallel, request.plan.recompute, TensorEnds::kDivided,
                                  summed};
    std::map<int, TensorGroup::Works> works;
    for (std::size_t first = 0; first < devices.size(); first += static_cast<std::size_t>(m_.tensor)) {
      std::vector<int> own;
      std::vector<TensorGroup::Works> its;
      for (std::size_t i = first; i < first + static_cast<std::size_t>(m_.tensor); ++i) {
        TensorGroup::Works& work = works[kinds[i]];
        if (!work)
          work = std::make_shared<const std::vector<LayerWork>>(
              layer_work(request.operators, division, sequences, platform.devices[devices[i]].gpu, request.scenario));
        own.push_back(devices[i]);
        its.push_back(work);
      }
      groups_.emplace_back(graph_, rules_, std::move(own), std::move(its), basis_ ? &*basis_ : nullptr);
    }
  }

  Lowered run() {
    assert(request_.plan.workload == Workload() && "Megatron-LM steps once per iteration");
    const TagId launch = graph_.tag({"launch", TaskClass::kLaunch});
    for (TensorGroup& group : groups_) {
      for (std::size_t rank = 0; rank < group.size(); ++rank)
        group.compute(rank, request_.scenario.training.iteration_overhead, launch, kNoTask);
    }
    pipelines();
    reduce_embedding();
    reduce_and_update();
    return {std::move(graph_), basis_};
  }

 private:
  TensorGroup& group(int stage, int replica) { return groups_[static_cast<std::size_t>(stage * m_.data + replica)]; }

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
        twins = twins_of(*graph_.fold(), request_.scenario.platform, gpus_of(one.replica), gpus_of(replica));
        return !twins.empty();
      });
      if (like != all.end()) {
        graph_.repeat(like->first, like->end, twins, request_.network);
        for (int s = 0; s < m_.pipeline; ++s) group(s, replica).follow(group(s, like->replica));
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

  std::vector<int> gpus_of(int replica) {
    std::vector<int> devices;
    for (int s = 0; s < m_.pipeline; ++s) {
      for (std::size_t t = 0; t < group(s, replica).size(); ++t) devices.push_back(group(s, replica).device(t));
    }
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
        .last = [=, this](std::size_t s) { return group(number(s), replica).last(); },
        .wait = [=, this](std::size_t s, const Step& step,
                          const std::vector<Tasks>& after) { wait(number(s), replica, step, after); }};
    walk_pipeline(graph_, m_.order, m_.chunks, steps, acts);
  }

  int virtual_stages() const { return m_.pipeline * m_.chunks; }

  // First and last unit: 0 the embedding, then the layers, then the head.
  std::pair<int, int> units_of(int at) const {
    const Stage& stage = request_.plan.stages[at];
    return {request_.operators[stage.first].layer + 1, request_.operators[stage.last - 1].layer + 1};
  }

  void wait(int stage, int replica, const Step& step, const std::vector<Tasks>& after) {
    Tasks& last = group(stage, replica).last();
    for (std::size_t t = 0; t < last.size(); ++t) {
      Tasks all;
      all.reserve(after.size() + 1);
      all.push_back(last[t]);
      for (const Tasks& tasks : after) all.push_back(tasks[t]);
      last[t] = joined(graph_, step, all);
    }
  }

  Tasks compute_step(int stage, int replica, const Step& step, const Tasks& inputs) {
    const auto [first, last] = units_of(step.chunk * m_.pipeline + stage);
    TensorGroup& own = group(stage, replica);
    own.pass(first, last, step.forward,
             std::string(step.forward ? "fwd mb" : "bwd mb") + std::to_string(step.micro_batch), inputs);
    return own.last();
  }

  // Each rank sends its part of the activation (or its gradient) to its counterpart; the parts are gathered there.
  SendEnds send(int from, int to, int replica, const Step& step, const Tasks& ready, const Tasks& posted) {
    const TagId tag = send_tag(graph_, step);
    SendEnds out;
    TensorGroup &sender = group(from, replica), &receiver = group(to, replica);
    for (std::size_t t = 0; t < sender.size(); ++t) {
      const Peers::SendEnd passed =
          peers_.pass(sender.device(t), receiver.device(t), rules_.activation / m_.tensor, tag, ready[t], posted, t);
      out.received.push_back(passed.received);
      out.sent.push_back(passed.sent);
    }
    if (m_.tensor > 1 && !m_.sequence_parallel) out.received = receiver.gather(tag, out.received);
    return out;
  }

  // The first and the last stage each hold a tied embedding and sum its gradients (arXiv 2104.04473, section 2.2).
  void reduce_embedding() {
    const double held = tied_parameters(request_.operators) / m_.tensor;
    if (m_.pipeline == 1 || held <= 0) return;
    const Bytes size{held * element_bytes(m_.gradients)};
    for (int replica = 0; replica < m_.data; ++replica) {
      TensorGroup &first = group(0, replica), &last = group(m_.pipeline - 1, replica);
      for (std::size_t t = 0; t < first.size(); ++t) {
        Communicator pair(graph_, request_.network, request_.scenario.nccl_setup(), {first.device(t), last.device(t)});
        const Tasks done = pair.run({Collective::kAllReduce, size}, graph_.tag({.name = "all-reduce embedding grads"}),
                                    std::array{first.last()[t], last.last()[t]});
        first.last()[t] = done[0];
        last.last()[t] = done[1];
      }
    }
  }

  void reduce_and_update() {
    for (int s = 0; s < m_.pipeline; ++s) {
      double held = 0;
      for (int chunk = 0; chunk < m_.chunks; ++chunk) held += parameters_of(chunk * m_.pipeline + s);
      for (std::size_t t = 0; t < group(s, 0).size(); ++t) update(s, t, held / m_.tensor);
    }
  }

  // The replicas of rank `tensor` of a stage: gradients are summed, and each replica updates all parameters, or its
  // part of them (megatron/core/optimizer/distrib_optimizer.py). Instances of a distributed optimizer are consecutive
  // replicas; each scatters gradients inside and sums its parts with the others' (param_and_grad_buffer.py).
  void update(int stage, std::size_t tensor, double held) {
    const Training& training = request_.scenario.training;
    const int parts = m_.optimizer_parts();
    Tasks ready;
    for (int replica = 0; replica < m_.data; ++replica) ready.push_back(group(stage, replica).last()[tensor]);
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
      TensorGroup& own = group(stage, replica);
      const Gpu& gpu = request_.scenario.platform.devices[own.device(tensor)].gpu;
      const Seconds stepped = update_time(held / parts, gpu, {training.precision, m_.gradients, training.optimizer},
                                          request_.scenario.software, basis_ ? &*basis_ : nullptr);
      ready[replica] = own.compute(tensor, stepped, adam, ready[replica]);
    }
    run(inside, Collective::kAllGather, Bytes{held * element_bytes(training.precision)}, "all-gather parameters");
    if (parts > 1) {
      for (int replica = 0; replica < m_.data; ++replica) group(stage, replica).last()[tensor] = ready[replica];
    }
  }

  struct ReplicaGroup {
    std::vector<std::size_t> replicas;
    Communicator communicator;
  };
  // Without groups in which a replica would be alone.
  std::vector<ReplicaGroup> replica_groups(int stage, std::size_t tensor,
                                           const std::vector<std::vector<std::size_t>>& groups) {
    std::vector<ReplicaGroup> out;
    for (const auto& replicas : groups) {
      if (replicas.size() == 1) continue;
      std::vector<int> devices;
      devices.reserve(replicas.size());
      for (const std::size_t replica : replicas)
        devices.push_back(group(stage, static_cast<int>(replica)).device(tensor));
      Communicator communicator(graph_, request_.network, request_.scenario.nccl_setup(), std::move(devices));
      out.push_back({replicas, std::move(communicator)});
    }
    return out;
  }

  double parameters_of(int at) {
    const auto [first, last] = units_of(at);
    double sum = 0;
    for (int unit = first; unit <= last; ++unit) sum += groups_.front().work(0, unit).parameters;
    // The last stage has its own copy of a tied embedding.
    if (at > 0 && at + 1 == virtual_stages()) sum += tied_parameters(request_.operators);
    return sum;
  }

  const LowerRequest& request_;
  const MegatronPlan m_;
  TaskGraph graph_;
  Peers peers_;
  std::optional<TimeBasis> basis_;
  TensorRules rules_;
  std::deque<TensorGroup> groups_;  // by stage, then by replica
};

}  // namespace

Lowered lower_megatron(const LowerRequest& request) { return MegatronRun(request).run(); }

}  // namespace slmsim
