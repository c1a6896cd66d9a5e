#include "sim/lower/megatron_run.h"

#include <array>
#include <cassert>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "sim/lower/host_queue.h"
#include "sim/lower/layer_work.h"
#include "sim/nccl/communicator.h"
#include "sim/nccl/nccl_rules.h"
#include "sim/nccl/peers.h"

namespace slmsim {
namespace {

using Tasks = std::vector<TaskId>;
constexpr int kMostMultiprocessors = 1 << 16;

// A step of a stage's schedule; `chunk` of its own ones.
struct ChunkStep {
  bool forward = true;
  int chunk = 0, micro_batch = 0;
};

std::vector<ChunkStep> chunk_steps(int stage, int stages, int chunks, int micro_batches) {
  const int all = micro_batches * chunks;
  const int ahead = chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
  const int warm_up = std::min(all, ahead);
  const auto step = [&](bool forward, int k) -> ChunkStep {
    const int chunk = k % (stages * chunks) / stages;
    return {forward, forward ? chunk : chunks - 1 - chunk, k / (stages * chunks) * stages + k % stages};
  };
  // Without chunks micro-batches simply follow each other.
  const auto of = [&](bool forward, int k) { return chunks == 1 ? ChunkStep{forward, 0, k} : step(forward, k); };
  std::vector<ChunkStep> steps;
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
    for (int s = 0; s < m_.pipeline && overlaps(false); ++s) {
      for (int replica = 0; replica < m_.data; ++replica) exchanges_.push_back(exchange_of(s, replica));
    }
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
    inputs_.clear();
    gradients_.clear();
    std::vector<std::vector<ChunkStep>> steps;
    steps.reserve(static_cast<std::size_t>(m_.pipeline));
    std::vector<std::size_t> next(static_cast<std::size_t>(m_.pipeline), 0);
    for (int s = 0; s < m_.pipeline; ++s)
      steps.push_back(chunk_steps(s, m_.pipeline, m_.chunks, request_.plan.micro_batches));
    for (bool moved = true; moved;) {
      moved = false;
      for (int s = 0; s < m_.pipeline; ++s) {
        const auto index = static_cast<std::size_t>(s);
        while (next[index] < steps[index].size() && ready(s, steps[index][next[index]])) {
          step(s, replica, steps[index][next[index]++]);
          moved = true;
        }
      }
    }
    for ([[maybe_unused]] std::size_t s = 0; s < steps.size(); ++s) assert(next[s] == steps[s].size());
  }

  int virtual_stages() const { return m_.pipeline * m_.chunks; }

  bool ready(int stage, const ChunkStep& step) const {
    const int at = step.chunk * m_.pipeline + stage;
    if (step.forward) return at == 0 || inputs_.contains({at, step.micro_batch});
    return at + 1 == virtual_stages() || gradients_.contains({at, step.micro_batch});
  }

  // First and last: 0 the embedding, then the layers, then the head.
  std::pair<int, int> units_of(int at) const {
    const Stage& stage = request_.plan.stages[static_cast<std::size_t>(at)];
    return {request_.operators[stage.first].layer + 1, request_.operators[stage.last - 1].layer + 1};
  }

  void step(int stage, int replica, const ChunkStep& step) {
    const int at = step.chunk * m_.pipeline + stage;
    auto& arrived = step.forward ? inputs_ : gradients_;
    const auto found = arrived.find({at, step.micro_batch});
    Tasks after(static_cast<std::size_t>(m_.tensor), kNoTask);
    if (found != arrived.end()) after = found->second;
    const auto [first, last] = units_of(at);
    for (int i = 0; i <= last - first; ++i) {
      unit(stage, replica, step.forward ? first + i : last - i, step.forward,
           fmt::format("{} mb{}", step.forward ? "fwd" : "bwd", step.micro_batch), after);
      after.assign(after.size(), kNoTask);
    }
    const int to = step.forward ? at + 1 : at - 1;
    if (to < 0 || to >= virtual_stages()) return;
    auto& target = step.forward ? inputs_ : gradients_;
    target[{to, step.micro_batch}] = send(stage, to % m_.pipeline, replica, step);
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
        last_[rank] = hosts_.run(graph_, rank, devices_[rank], stretch_of(work, forward, blocks, Part::kFirst), tag,
                                 {last_[rank], block == 0 ? after[static_cast<std::size_t>(t)] : kNoTask});
        if (gathers) last_[rank] = graph_.delay({0}, tag, std::array{last_[rank], input[static_cast<std::size_t>(t)]});
      }
      // The head's input gradient is summed going backward, the embedding's output going forward.
      if (!layer && forward != (unit == 0)) continue;
      const bool again = layer && !forward && request_.plan.recompute == Recompute::kFull;
      if (again) tensor_collective(stage, replica, tensor, {});
      const auto meanwhile = [&](std::size_t rank) {
        const LayerWork& work = work_[rank][static_cast<std::size_t>(unit)];
        HostQueue::Stretch stretch = stretch_of(work, forward, blocks, Part::kMeanwhile);
        stretch.gpu = exchanges_[static_cast<std::size_t>(stage * m_.data + replica)].beside(stretch.gpu);
        return hosts_.run(graph_, rank, devices_[rank], stretch, tag, {last_[rank], kNoTask});
      };
      tensor_collective(stage, replica, tensor, overlaps(forward) ? meanwhile : Meanwhile{});
    }
  }

  bool overlaps(bool forward) const { return !forward && m_.overlap && m_.tensor > 1; }

  // What a block computes before its exchange, and while it goes on: gradients of weights, for which nobody waits (in
  // Megatron-LM, LinearWithGradAccumulationAndAsyncCommunication).
  enum class Part { kFirst, kMeanwhile };
  HostQueue::Stretch stretch_of(const LayerWork& work, bool forward, int blocks, Part part) const {
    const double share = 1.0 / blocks;
    if (forward) return {work.forward * share, work.host_forward * share, work.forward_work * share};
    const double later = overlaps(forward) && work.backward.value > 0 ? work.column_weights / work.backward : 0.0;
    const double own = share * (part == Part::kFirst ? 1 - later : later);
    return {work.backward * own, work.host_backward * own, work.backward_work * own};
  }

  // Each channel of NCCL holds a multiprocessor while its call goes on; the others compute.
  struct Exchange {
    Seconds time;     // of a layer's tensor-parallel call, as NCCL expects it
    double held = 0;  // of the multiprocessors

    Seconds beside(Seconds alone) const { return alone + std::min(time, alone / (1 - held)) * held; }
  };
  Exchange exchange_of(int stage, int replica) const {
    const std::vector<int> devices = tensor_devices(stage, replica);
    const Nccl& nccl = request_.scenario.nccl;
    const NcclView view = nccl_view(request_.scenario.platform, devices);
    const Collective call = m_.sequence_parallel ? Collective::kReduceScatter : Collective::kAllReduce;
    const NcclChoice choice = nccl_choice(nccl, view, call, activation_);
    int least = kMostMultiprocessors;
    for (const int device : devices)
      least = std::min(least, request_.scenario.platform.devices[static_cast<std::size_t>(device)].gpu.multiprocessors);
    return {nccl_expected_time(nccl, view, call, activation_, choice).value_or(Seconds{0}),
            std::min(0.5, nccl_channels(nccl, view) / static_cast<double>(least))};
  }

  std::vector<int> tensor_devices(int stage, int replica) const {
    std::vector<int> devices;
    devices.reserve(static_cast<std::size_t>(m_.tensor));
    for (int t = 0; t < m_.tensor; ++t) devices.push_back(devices_[rank_of(stage, replica, t)]);
    return devices;
  }

  // `meanwhile`: what a rank computes during the last of the calls, if anything.
  using Meanwhile = std::function<TaskId(std::size_t rank)>;
  void tensor_collective(int stage, int replica, TagId tag, const Meanwhile& meanwhile) {
    if (m_.tensor == 1) return;
    // Sequence parallelism gathers before a block and scatters after it: the bytes of one all-reduce.
    const std::vector<Collective> calls = m_.sequence_parallel
                                              ? std::vector{Collective::kAllGather, Collective::kReduceScatter}
                                              : std::vector{Collective::kAllReduce};
    for (const Collective call : calls) {
      const Tasks done = tensor_call(stage, replica, call, tag);
      const bool hides = meanwhile && call == calls.back();
      for (int t = 0; t < m_.tensor; ++t) {
        const std::size_t rank = rank_of(stage, replica, t);
        const TaskId exchanged = done[static_cast<std::size_t>(t)];
        last_[rank] = hides ? graph_.delay({0}, tag, std::array{exchanged, meanwhile(rank)}) : exchanged;
      }
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
    return groups_
        .try_emplace({stage, replica}, graph_, request_.network, request_.scenario, tensor_devices(stage, replica))
        .first->second;
  }

  // Each rank sends its part of the activation (or its gradient) to its counterpart; the parts are gathered there.
  Tasks send(int from, int to, int replica, const ChunkStep& step) {
    const Pass pass = step.forward ? Pass::kForward : Pass::kBackward;
    const std::string name = fmt::format("send {} mb{}", step.forward ? "act" : "grad", step.micro_batch);
    const TagId tag = graph_.tag({name, TaskClass::kSend, pass});
    Tasks arrived;
    for (int t = 0; t < m_.tensor; ++t) {
      const std::size_t a = rank_of(from, replica, t), b = rank_of(to, replica, t);
      const int connection = peers_.connection(devices_[a], devices_[b]);
      arrived.push_back(graph_.transfer(connection, activation_ / m_.tensor, tag, std::array{last_[a]}));
    }
    if (m_.tensor == 1 || m_.sequence_parallel) return arrived;
    return tensor_group(to, replica).run({Collective::kAllGather, activation_}, tag, arrived);
  }

  // The first and the last stage hold a tied embedding each and add up its gradients (arXiv 2104.04473, section 2.2).
  void reduce_embedding() {
    const double held = tied_parameters(request_.operators) / m_.tensor;
    if (m_.pipeline == 1 || held <= 0) return;
    const Bytes size{held * element_bytes(m_.gradients)};
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
    for (int s = 0; s < m_.pipeline; ++s) {
      double held = 0;
      for (int chunk = 0; chunk < m_.chunks; ++chunk) held += parameters_of(chunk * m_.pipeline + s);
      for (int t = 0; t < m_.tensor; ++t) update(s, t, held / m_.tensor);
    }
  }

  // The replicas of what rank `tensor` of a stage holds: gradients are summed, and each replica updates all parameters, or
  // its part of them (megatron/core/optimizer/distrib_optimizer.py).
  void update(int stage, int tensor, double held) {
    const Training& training = request_.scenario.training;
    const bool divided = m_.distributed_optimizer && m_.data > 1;
    std::vector<int> devices;
    Tasks ready;
    for (int replica = 0; replica < m_.data; ++replica) {
      const std::size_t rank = rank_of(stage, replica, tensor);
      devices.push_back(devices_[rank]);
      ready.push_back(last_[rank]);
    }
    std::optional<Communicator> group;
    if (m_.data > 1) {
      group.emplace(graph_, request_.network, request_.scenario, devices);
      const TagId reduce = graph_.tag({.name = divided ? "reduce-scatter grads" : "all-reduce grads"});
      ready = group->run(
          {divided ? Collective::kReduceScatter : Collective::kAllReduce, Bytes{held * element_bytes(m_.gradients)}},
          reduce, ready);
    }
    const TagId adam = graph_.tag({"adam", TaskClass::kOptimizer});
    for (int replica = 0; replica < m_.data; ++replica) {
      const std::size_t rank = rank_of(stage, replica, tensor);
      const Gpu& gpu = request_.scenario.platform.devices[static_cast<std::size_t>(devices_[rank])].gpu;
      const Seconds stepped = adam_time(held / (divided ? m_.data : 1), gpu, training.precision, m_.gradients,
                                        request_.scenario.software, basis_ ? &*basis_ : nullptr);
      ready[static_cast<std::size_t>(replica)] = compute(rank, stepped, adam, ready[static_cast<std::size_t>(replica)]);
    }
    if (!divided) return;
    const Bytes weights{held * element_bytes(training.precision)};
    const Tasks whole =
        group->run({Collective::kAllGather, weights}, graph_.tag({.name = "all-gather parameters"}), ready);
    for (int replica = 0; replica < m_.data; ++replica)
      last_[rank_of(stage, replica, tensor)] = whole[static_cast<std::size_t>(replica)];
  }

  double parameters_of(int at) const {
    const auto [first, last] = units_of(at);
    double sum = 0;
    for (int unit = first; unit <= last; ++unit) sum += work_.front()[static_cast<std::size_t>(unit)].parameters;
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
  std::vector<Exchange> exchanges_;  // by stage and replica
  Tasks last_;
  std::map<std::pair<int, int>, Tasks> inputs_, gradients_;  // by virtual stage and micro-batch
  std::map<std::pair<int, int>, Communicator> groups_;
};

}  // namespace

Lowered lower_megatron(const LowerRequest& request) { return MegatronRun(request).run(); }

}  // namespace slmsim
