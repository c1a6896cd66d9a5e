#include "sim/lower/megatron_run.h"

#include <array>
#include <cassert>
#include <map>

#include <fmt/format.h>

#include "sim/lower/host_queue.h"
#include "sim/lower/layer_work.h"
#include "sim/lower/pipeline_walk.h"
#include "sim/nccl/communicator.h"
#include "sim/nccl/peers.h"

namespace slmsim {
namespace {

std::vector<Step> chunk_steps(int stage, int stages, int chunks, int micro_batches) {
  const int all = micro_batches * chunks;
  const int ahead = chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
  const int warm_up = std::min(all, ahead);
  const auto step = [&](bool forward, int k) -> Step {
    const int chunk = k % (stages * chunks) / stages;
    return {forward, k / (stages * chunks) * stages + k % stages, forward ? chunk : chunks - 1 - chunk};
  };
  // Without chunks micro-batches simply follow each other.
  const auto of = [&](bool forward, int k) { return chunks == 1 ? Step{forward, k} : step(forward, k); };
  std::vector<Step> steps;
  int next = 0;
  for (; next < warm_up; ++next) steps.push_back(of(true, next));
  for (int k = 0; k < all; ++k) {
    if (next < all) steps.push_back(of(true, next++));
    steps.push_back(of(false, k));
  }
  return steps;
}

class MegatronRun {
 public:
  explicit MegatronRun(const LowerRequest& request)
      : request_(request),
        m_(request.plan.megatron()),
        graph_(request.network.links(), static_cast<int>(request.scenario.platform.devices.size())),
        peers_(graph_, request.network, request.scenario) {
    sequences_ = static_cast<double>(request.scenario.training.batch) / (m_.data * request.plan.micro_batches);
    layers_ = layer_count(request.operators);
    for (int s = 0; s < m_.pipeline; ++s) {
      for (const int device : request.plan.stages[static_cast<std::size_t>(s)].mesh) devices_.push_back(device);
    }
    last_.assign(devices_.size(), kNoTask);
    for (const int device : devices_) {
      const Gpu& gpu = request.scenario.platform.devices[static_cast<std::size_t>(device)].gpu;
      work_.push_back(layer_work(request.operators, {m_.tensor, m_.sequence_parallel, request.plan.recompute},
                                 sequences_, gpu, request.scenario));
    }
    std::vector<bool> binds;
    for (const auto& units : work_) binds.push_back(host_binds(units));
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
    for (int replica = 0; replica < m_.data; ++replica) pipeline(replica);
    reduce_embedding();
    reduce_and_update();
    return {std::move(graph_), basis_};
  }

 private:
  std::size_t rank_of(int stage, int replica, int tensor) const {
    return static_cast<std::size_t>((stage * m_.data + replica) * m_.tensor + tensor);
  }

  TaskId compute(std::size_t rank, Seconds time, TagId tag, TaskId after, Flops work = {}) {
    return last_[rank] = graph_.compute(devices_[rank], time, tag, std::array{last_[rank], after}, work);
  }

  void pipeline(int replica) {
    std::vector<std::vector<Step>> steps;
    steps.reserve(static_cast<std::size_t>(m_.pipeline));
    for (int s = 0; s < m_.pipeline; ++s)
      steps.push_back(chunk_steps(s, m_.pipeline, m_.chunks, request_.plan.micro_batches));
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

  void wait(int stage, int replica, const Step& step, const std::vector<Tasks>& after) {
    for (int t = 0; t < m_.tensor; ++t) {
      TaskId& last = last_[rank_of(stage, replica, t)];
      Tasks all = {last};
      for (const Tasks& tasks : after) all.push_back(tasks[static_cast<std::size_t>(t)]);
      last = joined(graph_, step, all);
    }
  }

  Tasks compute_step(int stage, int replica, const Step& step, const Tasks& inputs) {
    const int at = step.chunk * m_.pipeline + stage, each = layers_ / virtual_stages();
    Tasks after = inputs.empty() ? Tasks(static_cast<std::size_t>(m_.tensor), kNoTask) : inputs;
    // Units: 0 the embedding, then the layers, then the head.
    const int first = at == 0 ? 0 : at * each + 1;
    const int last = at + 1 == virtual_stages() ? layers_ + 1 : (at + 1) * each;
    for (int i = 0; i <= last - first; ++i) {
      unit(stage, replica, step.forward ? first + i : last - i, step.forward,
           fmt::format("{} mb{}", step.forward ? "fwd" : "bwd", step.micro_batch), after);
      after.assign(after.size(), kNoTask);
    }
    return last_of(stage, replica);
  }

  // A layer is two blocks, attention and MLP, each with its collective.
  void unit(int stage, int replica, int unit, bool forward, const std::string& pass, const Tasks& after) {
    const bool layer = unit > 0 && unit <= layers_;
    const std::string name = pass + " " + unit_text(static_cast<std::size_t>(unit), work_.front().size());
    const int blocks = layer ? 2 : 1;
    const Pass direction = forward ? Pass::kForward : Pass::kBackward;
    const TagId tag = graph_.tag({name, class_of(direction), direction});
    const TagId tensor = graph_.tag({"tensor " + name, TaskClass::kCollective, direction});
    for (int block = 0; block < blocks; ++block) {
      // A block's input was kept in parts: it is gathered again for the gradients of weights, while those of the input are
      // computed (arXiv 2205.05198, section 4.2.2).
      const bool gathers = layer && !forward && m_.sequence_parallel && m_.tensor > 1;
      const Tasks input = gathers ? tensor_call(stage, replica, Collective::kAllGather, tensor) : Tasks{};
      for (int t = 0; t < m_.tensor; ++t) {
        const std::size_t rank = rank_of(stage, replica, t);
        const LayerWork& work = work_[rank][static_cast<std::size_t>(unit)];
        if (basis_ && forward && block == 0) *basis_ += work.basis;
        const auto part = static_cast<double>(blocks);
        const HostQueue::Stretch stretch =
            forward ? HostQueue::Stretch{work.forward / part, work.host_forward / part, work.forward_work / part}
                    : HostQueue::Stretch{work.backward / part, work.host_backward / part, work.backward_work / part};
        last_[rank] = hosts_.run(graph_, rank, devices_[rank], stretch, tag,
                                 {last_[rank], block == 0 ? after[static_cast<std::size_t>(t)] : kNoTask});
        if (gathers) last_[rank] = graph_.delay({0}, tag, std::array{last_[rank], input[static_cast<std::size_t>(t)]});
      }
      // The head's input gradient is summed going backward, the embedding's output going forward.
      if (!layer && forward != (unit == 0)) continue;
      const bool again = layer && !forward && request_.plan.recompute == Recompute::kFull;
      for (int i = 0; i < (again ? 2 : 1); ++i) tensor_collective(stage, replica, tensor);
    }
  }

  void tensor_collective(int stage, int replica, TagId tag) {
    if (m_.tensor == 1) return;
    // Sequence parallelism gathers before a block and scatters after it: the bytes of one all-reduce.
    const std::vector<Collective> calls = m_.sequence_parallel
                                              ? std::vector{Collective::kAllGather, Collective::kReduceScatter}
                                              : std::vector{Collective::kAllReduce};
    for (const Collective call : calls) {
      const Tasks done = tensor_call(stage, replica, call, tag);
      for (int t = 0; t < m_.tensor; ++t) last_[rank_of(stage, replica, t)] = done[static_cast<std::size_t>(t)];
    }
  }

  // After what the GPUs do last; returns what the next thing may wait for.
  Tasks tensor_call(int stage, int replica, Collective call, TagId tag) {
    Tasks before;
    for (int t = 0; t < m_.tensor; ++t) before.push_back(last_[rank_of(stage, replica, t)]);
    return tensor_group(stage, replica).run({call, activation_}, tag, before);
  }

  Communicator& tensor_group(int stage, int replica) {
    const auto found = groups_.find({stage, replica});
    if (found != groups_.end()) return found->second;
    std::vector<int> devices;
    devices.reserve(static_cast<std::size_t>(m_.tensor));
    for (int t = 0; t < m_.tensor; ++t) devices.push_back(devices_[rank_of(stage, replica, t)]);
    return groups_.try_emplace({stage, replica}, graph_, request_.network, request_.scenario, devices).first->second;
  }

  // Each rank sends its part of the activation (or its gradient) to its counterpart; the parts are gathered there.
  Sent send(int from, int to, int replica, const Step& step, const Tasks& ready, const Tasks& posted) {
    const TagId tag = send_tag(graph_, step);
    Sent out;
    for (int t = 0; t < m_.tensor; ++t) {
      const std::size_t a = rank_of(from, replica, t), b = rank_of(to, replica, t), at = static_cast<std::size_t>(t);
      const Bytes part = activation_ / m_.tensor;
      const Peers::Passed passed =
          posted.empty() ? Peers::Passed{kNoTask, peers_.send(devices_[a], devices_[b], part, tag, ready[at])}
                         : peers_.pass(devices_[a], devices_[b], part, tag, ready[at], posted[at]);
      out.received.push_back(passed.received);
      out.sent.push_back(passed.sent);
    }
    if (m_.tensor > 1 && !m_.sequence_parallel)
      out.received = tensor_group(to, replica).run({Collective::kAllGather, activation_}, tag, out.received);
    return out;
  }

  // The first and the last stage hold a tied embedding each and add up its gradients (arXiv 2104.04473, section 2.2).
  void reduce_embedding() {
    const double held = tied_parameters(request_.operators) / m_.tensor;
    if (m_.pipeline == 1 || held <= 0) return;
    const Bytes size{held * element_bytes(request_.scenario.training.gradient_precision)};
    for (int replica = 0; replica < m_.data; ++replica) {
      for (int t = 0; t < m_.tensor; ++t) {
        const std::size_t first = rank_of(0, replica, t), last = rank_of(m_.pipeline - 1, replica, t);
        Communicator pair(graph_, request_.network, request_.scenario, {devices_[first], devices_[last]});
        const Tasks done = pair.run({Collective::kAllReduce, size}, graph_.tag({.name = "all-reduce embedding grads"}),
                                    std::array{last_[first], last_[last]});
        last_[first] = done[0];
        last_[last] = done[1];
      }
    }
  }

  void reduce_and_update() {
    const Training& training = request_.scenario.training;
    const TagId reduce = graph_.tag({.name = "all-reduce grads"}), adam = graph_.tag({"adam", TaskClass::kOptimizer});
    for (int s = 0; s < m_.pipeline; ++s) {
      double held = 0;
      for (int chunk = 0; chunk < m_.chunks; ++chunk) held += parameters_of(chunk * m_.pipeline + s);
      held /= m_.tensor;
      for (int t = 0; t < m_.tensor; ++t) {
        Tasks ready;
        for (int replica = 0; replica < m_.data; ++replica) ready.push_back(last_[rank_of(s, replica, t)]);
        if (m_.data > 1) {
          std::vector<int> devices;
          devices.reserve(static_cast<std::size_t>(m_.data));
          for (int replica = 0; replica < m_.data; ++replica) devices.push_back(devices_[rank_of(s, replica, t)]);
          Communicator group(graph_, request_.network, request_.scenario, devices);
          ready = group.run({Collective::kAllReduce, Bytes{held * element_bytes(training.gradient_precision)}}, reduce,
                            ready);
        }
        for (int replica = 0; replica < m_.data; ++replica) {
          const std::size_t rank = rank_of(s, replica, t);
          const Gpu& gpu = request_.scenario.platform.devices[static_cast<std::size_t>(devices_[rank])].gpu;
          const Seconds stepped = adam_time(held, gpu, training.precision, training.gradient_precision,
                                            request_.scenario.software, basis_ ? &*basis_ : nullptr);
          compute(rank, stepped, adam, ready[static_cast<std::size_t>(replica)]);
        }
      }
    }
  }

  double parameters_of(int at) const {
    const int each = layers_ / virtual_stages();
    double sum = 0;
    for (int unit = at * each + 1; unit <= (at + 1) * each; ++unit)
      sum += work_.front()[static_cast<std::size_t>(unit)].parameters;
    if (at == 0) sum += work_.front().front().parameters;
    if (at + 1 == virtual_stages()) sum += work_.front().back().parameters;
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
  std::vector<std::vector<LayerWork>> work_;
  Bytes activation_;
  Tasks last_;
  std::map<std::pair<int, int>, Communicator> groups_;
};

}  // namespace

Lowered lower_megatron(const LowerRequest& request) { return MegatronRun(request).run(); }

}  // namespace slmsim
