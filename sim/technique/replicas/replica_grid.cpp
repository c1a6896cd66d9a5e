// Ranks as a grid of stages, replicas and tensor-parallel GPUs, and the collectives along each of them.
#include <algorithm>
#include <array>

#include "sim/compute/operator_graph.h"
#include "sim/technique/replicas/replica_run.h"

namespace slmsim {

void ReplicaRun::enter(std::size_t stage) {
  const std::size_t width = request_.plan.stages.front().mesh.size();
  at_ = stage;
  begin_ = stage * width;
  end_ = begin_ + width;
}

std::pair<std::size_t, std::size_t> ReplicaRun::units_of(std::size_t stage) const {
  const Stage& of = request_.plan.stages[stage];
  const auto unit = [&](std::size_t op) { return static_cast<std::size_t>(request_.operators[op].layer + 1); };
  return {unit(of.first), unit(of.last - 1)};
}

void ReplicaRun::divided_pass(std::size_t first, std::size_t unit, bool forward, TagId tag) {
  const UnitKind kind = unit == 0 ? UnitKind::kEmbedding : unit + 1 == units() ? UnitKind::kHead : UnitKind::kLayer;
  const TagId exchanged = graph_.tag({"tensor " + graph_.tags()[tag].name, TaskClass::kCollective, pass_});
  const auto blocks = tensor_blocks(tensor_, sizes_, kind, forward, request_.plan.recompute);
  for (const TensorBlock& block : blocks) {
    exchange(first, block.before, exchanged);
    for (std::size_t rank = first; rank < first + static_cast<std::size_t>(tensor_.tensor); ++rank) {
      const LayerWork& work = work_[rank][unit];
      const auto stretch =
          (forward ? forward_of(work) : backward_of(work)).part(1.0 / static_cast<double>(blocks.size()));
      gpu_[rank] = hosts_.run(graph_, rank, devices_[rank], stretch, tag, {gpu_[rank], kNoTask});
    }
    exchange(first, block.after, exchanged);
  }
}

void ReplicaRun::exchange(std::size_t first, const std::vector<TensorExchange>& calls, TagId tag) {
  const auto begin = static_cast<std::ptrdiff_t>(first), end = begin + tensor_.tensor;
  auto group = tensor_groups_.find(first);
  if (group == tensor_groups_.end())
    group = tensor_groups_
                .try_emplace(first, graph_, request_.network, request_.scenario.nccl_setup(),
                             std::vector<int>(devices_.begin() + begin, devices_.begin() + end))
                .first;
  const TagId copying = graph_.tag({"copy by tokens", TaskClass::kBuffer, pass_});
  const auto copy = [&](const TensorExchange& call, Collective where) {
    if (!call.copies || call.collective != where) return;
    for (auto rank = first; rank < static_cast<std::size_t>(end); ++rank) {
      const Seconds time = elementwise_time(Bytes{copied(call.size.value)}, gpu(rank), scenario().software);
      gpu_[rank] = graph_.compute(devices_[rank], time, copying, std::array{gpu_[rank]});
    }
  };
  for (const TensorExchange& call : calls) {
    copy(call, Collective::kReduceScatter);
    const Tasks ready(gpu_.begin() + begin, gpu_.begin() + end);
    const Tasks done = group->second.run({call.collective, call.size}, tag, ready);
    std::copy(done.begin(), done.end(), gpu_.begin() + begin);
    copy(call, Collective::kAllGather);
  }
}

SendEnds ReplicaRun::send(std::size_t from, std::size_t to, const Step& step, const Tasks& ready, const Tasks& posted) {
  const TagId tag = send_tag(graph_, step);
  const std::size_t width = ready.size();
  const Bytes part = sizes_.stream / (tensor_.sequence_parallel ? tensor_.tensor : 1);
  SendEnds out;
  for (std::size_t i = 0; i < width; ++i) {
    const int a = devices_[from * width + i], b = devices_[to * width + i];
    const Peers::SendEnd passed = peers_.pass(a, b, part, tag, ready[i], posted, i);
    out.received.push_back(passed.received);
    out.sent.push_back(passed.sent);
  }
  return out;
}

Tasks ReplicaRun::spread(const Tasks& of_stage) const {
  Tasks out = none();
  std::copy(of_stage.begin(), of_stage.end(), out.begin() + static_cast<std::ptrdiff_t>(begin_));
  return out;
}

Tasks ReplicaRun::of_stage(const Tasks& all) const {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin_), all.begin() + static_cast<std::ptrdiff_t>(end_)};
}

std::vector<ReplicaRun::Part>& ReplicaRun::parts(Reach reach) {
  const auto [at, is_new] = parts_.try_emplace({reach, at_});
  auto& parts = at->second;
  if (!is_new) return parts;
  const auto tensor = static_cast<std::size_t>(tensor_.tensor);
  const Axes axis = reach == Reach::kShards ? 2 : 1;  // of replicas by group and place in it
  for (const auto& replicas : groups_along(axis, {fsdp_->replicas / fsdp_->shards, fsdp_->shards})) {
    for (std::size_t t = 0; t < tensor && replicas.size() > 1; ++t) {
      std::vector<std::size_t> ranks;
      std::vector<int> devices;
      for (const std::size_t replica : replicas) {
        ranks.push_back(begin_ + replica * tensor + t);
        devices.push_back(devices_[ranks.back()]);
      }
      Communicator communicator(graph_, request_.network, request_.scenario.nccl_setup(), std::move(devices));
      parts.push_back({std::move(ranks), std::move(communicator)});
    }
  }
  return parts;
}

Tasks ReplicaRun::collective(Reach reach, Collective collective, Bytes size, const std::string& name,
                             const Tasks& after) {
  auto& groups = parts(reach);
  if (groups.empty() || size <= Bytes{0}) return after;
  const TagId id = graph_.tag({name, TaskClass::kCollective, pass_});
  Tasks& stream = reach == Reach::kShards ? nccl_ : across_;
  for (auto& [ranks, communicator] : groups) {
    Tasks ready;
    for (const std::size_t rank : ranks) ready.push_back(join(stream, id, after, rank));
    const Tasks done = communicator.run_beside({collective, size}, id, ready);
    for (std::size_t i = 0; i < ranks.size(); ++i) stream[ranks[i]] = done[i];
  }
  return ended(stream);
}

}  // namespace slmsim
