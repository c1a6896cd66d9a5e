#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sim/collective/alone.h"
#include "sim/collective/communicator.h"
#include "sim/collective/peers.h"
#include "sim/technique/common/host_queue.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/lower.h"
#include "sim/technique/rounds/rounds.h"

namespace slmsim {
namespace {

// Bytes that kernels move per parameter, in fp32 (rounds.h).
constexpr double kDifference = 3 * kFp32Bytes, kOuterUpdate = 5 * kFp32Bytes;
// With more transfers per round, collectives inside replicas are aggregated; this takes a second or two to simulate.
constexpr double kMostInside = 2e5;
// Steps after an exchange that are lowered task by task where the others repeat the last of them: after the first one the GPUs of
// a replica keep their distances.
constexpr std::size_t kStepsInFull = 2;

using Ranks = std::vector<TaskId>;  // one task per rank

class RoundRun {
 public:
  explicit RoundRun(const LowerRequest& request)
      : request_(request),
        how_(request.plan.round()),
        steps_(request.plan.workload.steps),
        devices_(request.plan.stages.front().mesh),
        graph_(begin_graph(request)),
        peers_(graph_, request.network, request.scenario.nccl_setup()),
        fragments_(fragment_parameters(request.operators, how_.fragments)) {
    const Stage& stage = request.plan.stages.front();
    work_ = layer_work_of_ranks(
        request.operators, stage,
        {.recompute = request.plan.recompute, .summed = summed_bytes(request.plan, request.scenario)},
        micro_batch_sequences(request.plan, request.scenario.training), request.scenario);
    std::vector<bool> binds;
    for (const auto& units : work_) binds.push_back(request.hosts_apart || host_binds(units));
    for (const auto& unit : work_.front()) parameters_ += unit.parameters;
    by_unit_ = how_.gpus > 1 || std::find(binds.begin(), binds.end(), true) != binds.end();
    hosts_ = HostQueue(std::move(binds));
    group();
    gpu_ = exchange_ = sums_ = in_ = out_ = cpu_ = Ranks(devices_.size(), kNoTask);
  }

  Lowered run() {
    const auto when = fragment_steps(steps_, how_.fragments, how_.delay);
    std::vector<Ranks> exchanged(fragments_.size());
    std::size_t alone = 0;  // steps since the last exchange
    const auto finish = [&](int step, bool begun_before) {
      for (std::size_t f = 0; f < when.size(); ++f) {
        if (when[f].end == step && (when[f].begin < step) == begun_before) update(f, exchanged[f]);
      }
    };
    for (int step = 1; step <= steps_; ++step) {
      const bool last_in_full = ++alone == kStepsInFull && repeats_steps();
      const StepBegin begin = last_in_full ? step_begin() : StepBegin{};
      inner_step();
      if (last_in_full) step += repeat_steps(begin, steps_alone(when, step));
      const auto is_exchanged = [&](const FragmentSteps& f) { return f.begin <= step && step <= f.end; };
      if (std::ranges::any_of(when, is_exchanged)) alone = 0;
      finish(step, true);
      for (std::size_t f = 0; f < when.size(); ++f) {
        if (when[f].begin == step) exchanged[f] = exchange(f);
      }
      finish(step, false);
    }
    return {std::move(graph_), basis()};
  }

 private:
  // GPUs that communicate: those of one replica, or those of the same position in all replicas.
  struct Part {
    std::vector<std::size_t> ranks;
    std::vector<int> devices;
    Communicator communicator;
  };

  void group() {
    const auto size = static_cast<std::size_t>(how_.gpus), count = devices_.size() / size;
    const auto add = [&](std::vector<Part>& parts, const std::vector<std::size_t>& ranks) {
      std::vector<int> devices;
      devices.reserve(ranks.size());
      for (const std::size_t rank : ranks) devices.push_back(devices_[rank]);
      parts.push_back(
          {ranks, devices, Communicator(graph_, request_.network, request_.scenario.nccl_setup(), devices)});
    };
    for (std::size_t replica = 0; replica < count && size > 1; ++replica) {
      std::vector<std::size_t> ranks(size);
      for (std::size_t place = 0; place < size; ++place) ranks[place] = replica * size + place;
      add(inside_, ranks);
    }
    for (std::size_t place = 0; place < size; ++place) {
      std::vector<std::size_t> ranks(count);
      for (std::size_t replica = 0; replica < count; ++replica) ranks[replica] = replica * size + place;
      add(across_, ranks);
    }
    double inside = 0;
    for (const Part& part : inside_)
      inside += steps_ * part.communicator.transfer_count({Collective::kAllReduce, gradient_bytes(parameters_)});
    for (Part& part : inside_) {
      if (inside > kMostInside) part.communicator.aggregate();
    }
  }

  const Scenario& scenario() const { return request_.scenario; }
  const Gpu& gpu(std::size_t rank) const { return scenario().platform.devices[devices_[rank]].gpu; }
  Bytes gradient_bytes(double parameters) const {
    return Bytes{parameters * element_bytes(scenario().training.gradient_precision)};
  }

  // --- inner steps

  void inner_step() {
    const Seconds launch = scenario().training.iteration_overhead;
    const int micro_batches = request_.micro_batches();
    const TagId launching = graph_.tag({"launch", TaskClass::kLaunch});
    for (std::size_t rank = 0; rank < devices_.size() && launch > Seconds{0}; ++rank)
      gpu_[rank] = graph_.compute(devices_[rank], launch, launching, std::array{gpu_[rank]});
    Ranks reduced(devices_.size(), kNoTask);
    const int merged = request_.only_times ? micro_batches - (inside_.empty() ? 0 : 1) : 0;
    if (merged > 0) accumulate(merged);
    for (int mb = merged; mb < micro_batches; ++mb) {
      const std::string of = micro_batches > 1 ? fmt::format(" mb{}", mb) : "";
      const std::size_t units = work_.front().size();
      if (!by_unit_) {
        pass(Pass::kForward, "fwd" + of, 0, units);
        pass(Pass::kBackward, "bwd" + of, 0, units);
        continue;
      }
      for (std::size_t unit = 0; unit < units; ++unit)
        pass(Pass::kForward, fmt::format("fwd{} {}", of, unit_text(unit, units)), unit, unit + 1);
      Bytes waiting{0};
      for (std::size_t unit = units; unit-- > 0;) {
        pass(Pass::kBackward, fmt::format("bwd{} {}", of, unit_text(unit, units)), unit, unit + 1);
        if (inside_.empty() || mb + 1 < micro_batches) continue;
        const Bytes gradients = gradient_bytes(work_.front()[unit].parameters);
        copy_buffers(gradients, "grads to bucket", gpu_);
        waiting += gradients;
        for (; waiting > Bytes{0} && (waiting >= how_.bucket || unit == 0); waiting -= std::min(waiting, how_.bucket))
          reduced = sum_inside(std::min(waiting, how_.bucket));
      }
    }
    if (by_unit_ && !inside_.empty()) {
      copy_buffers(gradient_bytes(parameters_), "grads from buckets", reduced);
      reduced = gpu_;
    }
    const TagId adam = graph_.tag({"adam", TaskClass::kOptimizer});
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) kernel(rank, adam_on(rank), adam, reduced[rank]);
  }

  struct StepBegin {
    Ranks gpu;
    std::vector<Seconds> launched;  // per rank, by its host so far
  };
  StepBegin step_begin() const {
    StepBegin out{gpu_, {}};
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) out.launched.push_back(hosts_.launched(rank));
    return out;
  }

  // Whether a step may repeat the one before it; with each transfer between VMs windows change.
  bool repeats_steps() const {
    const auto spans = [&](const Part& part) { return spans_vms(scenario().platform, part.devices); };
    return request_.passages != nullptr && request_.passages->in_full.empty() && std::ranges::none_of(inside_, spans);
  }

  // As many more steps like the last one, which began there. Returns their number.
  int repeat_steps(const StepBegin& begin, int times) {
    if (times == 0) return 0;
    const TagId tag = graph_.tag({"steps", TaskClass::kForward});
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      const int device = devices_[rank];
      const auto known = request_.passages->step.find(device);
      const Seconds each = known == request_.passages->step.end() ? Seconds{0} : known->second;
      const TaskId task = graph_.compute(device, each * times, tag, std::array{gpu_[rank]});
      const Seconds launched = hosts_.launched(rank) - begin.launched[rank];
      const TaskId launching = hosts_.launch(graph_, rank, device, launched * times);
      graph_.stands_for(RepeatedSteps{device, task, launching, begin.gpu[rank], gpu_[rank], times});
      gpu_[rank] = task;
    }
    return times;
  }

  // As in DDP (gradient_exchange.h).
  void copy_buffers(Bytes gradients, const char* name, const Ranks& after) {
    const TagId tag = graph_.tag({name, TaskClass::kBuffer, Pass::kBackward});
    for (std::size_t rank = 0; rank < devices_.size(); ++rank)
      kernel(rank, elementwise_time(Bytes{copied(gradients.value)}, gpu(rank), scenario().software), tag, after[rank]);
  }

  // Units [first, last) of a pass on every GPU.
  void pass(Pass pass, const std::string& name, std::size_t first, std::size_t last) {
    const bool forward = pass == Pass::kForward;
    const TagId tag = graph_.tag({name, class_of(pass), pass});
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      HostQueue::Stretch all{};
      for (std::size_t i = first; i < last; ++i) {
        const LayerWork& work = work_[rank][forward ? i : first + last - 1 - i];
        const HostQueue::Stretch one = forward ? forward_of(work) : backward_of(work);
        if (first + 1 == last) {
          all = one;
        } else {
          all.append(one);
        }
      }
      gpu_[rank] = hosts_.run(graph_, rank, devices_[rank], all, tag, {gpu_[rank], kNoTask});
    }
  }

  // Micro-batches without communication, as one computation: where only times are needed.
  void accumulate(int micro_batches) {
    const TagId tag = graph_.tag({"passes", TaskClass::kBackward, Pass::kBackward});
    for (std::size_t rank = accumulated_.size(); rank < devices_.size(); ++rank)
      accumulated_.push_back(passes_of(work_[rank]).repeated(micro_batches));
    for (std::size_t rank = 0; rank < devices_.size(); ++rank)
      gpu_[rank] = hosts_.run(graph_, rank, devices_[rank], accumulated_[rank], tag, {gpu_[rank], kNoTask});
  }

  Ranks sum_inside(Bytes size) {
    const TagId tag = graph_.tag({"all-reduce grads", TaskClass::kCollective, Pass::kBackward});
    return run_parts(inside_, sums_, tag, gpu_, [&](Part& part, const Ranks& ready) {
      return part.communicator.run_beside({Collective::kAllReduce, size}, tag, ready);
    });
  }

  // Runs a collective of each part on these streams, after these tasks.
  template <class Run>
  Ranks run_parts(std::vector<Part>& parts, Ranks& stream, TagId tag, const Ranks& after, Run run) {
    for (Part& part : parts) {
      Ranks ready;
      for (const std::size_t rank : part.ranks)
        ready.push_back(graph_.delay({0}, tag, std::array{stream[rank], after[rank]}));
      const Ranks done = run(part, ready);
      for (std::size_t i = 0; i < part.ranks.size(); ++i) stream[part.ranks[i]] = done[i];
    }
    return stream;
  }

  Seconds adam_on(std::size_t rank, TimeBasis* basis = nullptr) const {
    return update_time(parameters_, gpu(rank), scenario().training.update(), scenario().software, basis);
  }

  // --- exchanges

  // A kernel on the GPU's stream.
  void kernel(std::size_t rank, Seconds time, TagId tag, TaskId after = kNoTask) {
    if (time > Seconds{0} || after != kNoTask)
      gpu_[rank] = graph_.compute(devices_[rank], time, tag, std::array{gpu_[rank], after});
  }
  TagId optimizer(const char* name) { return graph_.tag({name, TaskClass::kOptimizer}); }

  // Parameters of a fragment that one GPU exchanges and updates.
  double part_of(std::size_t fragment) const { return fragments_[fragment] / how_.gpus; }
  Seconds moving(std::size_t rank, double bytes_per_parameter, double parameters) const {
    return elementwise_time(Bytes{bytes_per_parameter * parameters}, gpu(rank), scenario().software);
  }

  // Returns per rank the task after which its exchanged data is available: sums, or, with the outer state in host
  // memory, new parameters.
  Ranks exchange(std::size_t fragment) {
    const double part = part_of(fragment);
    const bool differences = how_.update == OuterUpdate::kNesterov;
    Ranks fetched(devices_.size(), kNoTask);
    if (how_.outer_on_host) fetched = copy(HostPath::kFromMemory, in_, part, "outer parameters to GPU", gpu_);
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      if (differences) kernel(rank, moving(rank, kDifference, part), optimizer("difference"), fetched[rank]);
      kernel(rank, encode_time(how_.format, part, gpu(rank), scenario().software), optimizer("encode"));
    }
    Ranks summed = sum(part);
    if (!how_.outer_on_host) return summed;
    if (how_.format != ExchangeFormat::kFp32) {
      for (std::size_t rank = 0; rank < devices_.size(); ++rank)
        summed[rank] = beside(decode_time(how_.format, part, gpu(rank), scenario().software), "decode", summed[rank]);
    }
    const Ranks on_host = copy(HostPath::kToMemory, out_, part, "differences to host", summed);
    const Ranks done = transfer(HostPath::kCpu, cpu_, Bytes{part * kOuterUpdate}, optimizer("outer update"), on_host);
    return copy(HostPath::kFromMemory, in_, part, "parameters to GPU", done);
  }

  Ranks sum(double part) {
    const Bytes size = wire_bytes(how_.format, part);
    const TagId tag =
        graph_.tag({how_.update == OuterUpdate::kNesterov ? "all-reduce differences" : "all-reduce parameters"});
    return run_parts(across_, exchange_, tag, gpu_, [&](Part& group, const Ranks& ready) {
      if (how_.sum == SumBy::kNccl) return group.communicator.run_beside({Collective::kAllReduce, size}, tag, ready);
      const int count = static_cast<int>(group.ranks.size());
      return all_reduce_by_shares(peers_, group.devices, size, tag, ready, [&](std::size_t i, TaskId received) {
        const Gpu& adding = gpu(group.ranks[i]);
        return beside(sum_time(how_.format, part, count, adding, scenario().software), "sum of shares", received);
      });
    });
  }

  // Kernels beside the GPU's stream, as NCCL's are.
  TaskId beside(Seconds time, const char* name, TaskId after) {
    return graph_.delay(time, graph_.tag({name, TaskClass::kKernels}), std::array{after});
  }

  void update(std::size_t fragment, const Ranks& exchanged) {
    const double part = part_of(fragment);
    const bool on_gpu = !how_.outer_on_host;
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      gpu_[rank] = graph_.delay({0}, optimizer("update"), std::array{gpu_[rank], exchanged[rank]});
      if (on_gpu) kernel(rank, decode_time(how_.format, part, gpu(rank), scenario().software), optimizer("decode"));
      if (on_gpu && how_.update == OuterUpdate::kNesterov)
        kernel(rank, moving(rank, kOuterUpdate, part), optimizer("outer update"));
    }
    if (!inside_.empty()) {
      const TagId tag = graph_.tag({.name = "all-gather parameters"});
      gpu_ = run_parts(inside_, sums_, tag, gpu_, [&](Part& group, const Ranks& ready) {
        return group.communicator.run({Collective::kAllGather, Bytes{fragments_[fragment] * kFp32Bytes}}, tag, ready);
      });
    }
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      if (cast_bytes() > 0) kernel(rank, moving(rank, cast_bytes(), fragments_[fragment]), optimizer("cast"));
    }
  }

  // Bytes of the conversion from the new parameters to those of the passes and Adam's own copy. Averages in fp32 need
  // none; after a delay the outer parameters are mixed with the current ones.
  double cast_bytes() const {
    const double weight = element_bytes(scenario().training.precision);
    const bool master = scenario().training.update().has_master();
    const bool in_place = how_.update == OuterUpdate::kAverage;
    if (in_place) return master ? kFp32Bytes + weight : 0;
    return kFp32Bytes + (how_.delay > 0 ? kFp32Bytes : 0) + weight + (master ? kFp32Bytes : 0);
  }

  Ranks transfer(HostPath path, Ranks& stream, Bytes size, TagId tag, const Ranks& after) {
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      const auto [at, is_new] = host_.try_emplace({rank, path}, 0);
      if (is_new) at->second = connect_host(graph_, request_, devices_[rank], path);
      stream[rank] = graph_.transfer(at->second, size, tag, std::array{stream[rank], after[rank]});
    }
    return stream;
  }
  Ranks copy(HostPath path, Ranks& stream, double parameters, const char* name, const Ranks& after) {
    return transfer(path, stream, Bytes{parameters * kFp32Bytes}, graph_.tag({name, TaskClass::kCopy}), after);
  }

  // Basis of the passes and Adam of all GPUs, without recomputation.
  std::optional<TimeBasis> basis() const {
    if (!has_measured_kernels(request_)) return std::nullopt;
    TimeBasis sum;
    for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
      TimeBasis own;
      for (const LayerWork& unit : work_[rank]) own += unit.basis * request_.plan.micro_batches;
      adam_on(rank, &own);
      sum += own * steps_;
    }
    return sum;
  }

  const LowerRequest& request_;
  const RoundPlan& how_;
  int steps_;
  std::vector<int> devices_;
  TaskGraph graph_;
  Peers peers_;
  std::vector<double> fragments_;                // parameters
  std::vector<std::vector<LayerWork>> work_;     // per rank and unit
  std::vector<HostQueue::Stretch> accumulated_;  // per rank: a step's micro-batches without communication
  double parameters_ = 0;
  bool by_unit_ = false;  // one task per layer, not one per pass
  std::vector<Part> inside_, across_;
  HostQueue hosts_{{}};
  // Streams of each rank: kernels, exchanges, sums inside the replica, copies to and from the host, its CPU.
  Ranks gpu_, exchange_, sums_, in_, out_, cpu_;
  std::map<std::pair<std::size_t, HostPath>, int> host_;
};

}  // namespace

Lowered lower_round(const LowerRequest& request) { return RoundRun(request).run(); }

}  // namespace slmsim
