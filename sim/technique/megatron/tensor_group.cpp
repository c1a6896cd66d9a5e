#include "sim/technique/megatron/tensor_group.h"

#include <algorithm>
#include <array>
#include <utility>

namespace slmsim {
namespace {

// In one VM equal places mean equal links.
std::vector<int> place_of(const std::vector<int>& devices, const TensorRules& rules) {
  const Platform& platform = rules.request.scenario.platform;
  const int vm = platform.devices[devices.front()].vm;
  const bool inside = std::ranges::all_of(devices, [&](int device) { return platform.devices[device].vm == vm; });
  std::vector<int> out = {inside ? rules.vm_kinds[vm] : -1};
  for (const int device : devices) out.push_back(inside ? device - platform.vms[vm].first_device : device);
  return out;
}

}  // namespace

TensorGroup::TensorGroup(TaskGraph& graph, TensorRules& rules, std::vector<int> devices, std::vector<Works> works,
                         TimeBasis* basis)
    : graph_(graph),
      rules_(rules),
      devices_(std::move(devices)),
      place_(place_of(devices_, rules)),
      works_(std::move(works)),
      basis_(basis),
      last_(devices_.size(), kNoTask),
      hosts_({}) {
  std::vector<bool> binds;
  for (const Works& one : works_) binds.push_back(rules_.request.hosts_apart || host_binds(*one));
  hosts_ = HostQueue(std::move(binds));
  passages_ = keeps_step();
}

bool TensorGroup::keeps_step() const {
  const PassageRules* passages = rules_.request.passages;
  return passages != nullptr && std::ranges::adjacent_find(works_, std::ranges::not_equal_to()) == works_.end() &&
         std::ranges::none_of(devices_, [&](int device) { return passages->in_full.contains(device); });
}

TaskId TensorGroup::compute(std::size_t rank, Seconds time, TagId tag, TaskId after, Flops work) {
  return last_[rank] = graph_.compute(devices_[rank], time, tag, std::array{last_[rank], after}, {work});
}

void TensorGroup::follow(const TensorGroup& other) {
  last_ = other.last_;
  for (std::size_t rank = 0; rank < size(); ++rank) hosts_.follow(rank, other.hosts_);
}

bool TensorGroup::overlaps(bool forward) const { return !forward && rules_.plan.overlap && size() > 1; }

// Exchanges of a block, in order. Sequence parallelism gathers before a block and scatters after it, with the bytes
// of one all-reduce; a layer's input, kept in parts, is gathered again for the gradients of the weights (arXiv
// 2205.05198, section 4.2.2).
std::vector<TensorGroup::Act> TensorGroup::exchanges(bool forward, bool layer) const {
  const auto beside = [&](Part part) { return overlaps(forward) ? std::optional(part) : std::nullopt; };
  if (!rules_.plan.sequence_parallel) return {{beside(Part::kWeightsGradient), Collective::kAllReduce}};
  std::vector<Act> out = {{{}, Collective::kAllGather}};
  if (!forward && layer) out.push_back({beside(Part::kInputGradient), Collective::kAllGather});
  out.push_back({beside(Part::kWeightsGradient), Collective::kReduceScatter});
  return out;
}

// A layer has two blocks, attention and MLP, each with its collective.
std::vector<TensorGroup::Act> TensorGroup::acts_of(int unit, bool forward) const {
  const bool layer = is_layer(unit);
  std::vector<Act> block = {{Part::kFirst}};
  // The head's input gradient is summed in the backward pass, the embedding's output in the forward pass.
  if (size() > 1 && (layer || forward == (unit == 0))) {
    // Recomputation repeats the exchanges.
    const bool again = layer && !forward && rules_.request.plan.recompute == Recompute::kFull;
    if (again) std::ranges::copy(exchanges(true, layer), std::back_inserter(block));
    std::ranges::copy(exchanges(forward, layer), std::back_inserter(block));
  }
  std::vector<Act> out = block;
  if (layer) out.insert(out.end(), block.begin(), block.end());
  return out;
}

HostQueue::Stretch TensorGroup::stretch_of(std::size_t rank, int unit, bool forward, Part part) const {
  const LayerWork& work = this->work(rank, unit);
  const int blocks = is_layer(unit) ? 2 : 1;
  const double share = 1.0 / blocks;
  const BoundTime& bound = work.bound;
  if (forward)
    return {work.forward * share, work.host_forward * share, work.forward_work * share, bound.forward * share};
  // Both gradients of a product take about the same time.
  const double later = overlaps(forward) && work.backward.value > 0 ? work.column_weights / work.backward : 0.0;
  const int parts = rules_.plan.sequence_parallel && blocks > 1 ? 2 : 1;  // the head gathers nothing again
  const double own = share * (part == Part::kFirst ? 1 - parts * later : later);
  Seconds of_own = bound.weights_gradient;
  if (part == Part::kFirst) of_own = bound.backward - bound.weights_gradient * (later > 0 ? parts : 0);
  return {work.backward * own, work.host_backward * own, work.backward_work * own, of_own * share};
}

void TensorGroup::run_unit(int unit, bool forward, const std::string& pass, const Tasks& inputs) {
  const std::string name = pass + " " + unit_text(static_cast<std::size_t>(unit), works_.front()->size());
  const Pass direction = forward ? Pass::kForward : Pass::kBackward;
  const TagId tag = graph_.tag({name, class_of(direction), direction});
  const TagId tensor = graph_.tag({"tensor " + name, TaskClass::kCollective, direction});
  Tasks after = inputs;
  for (const Act& act : acts_of(unit, forward)) {
    Tasks exchanged;
    if (act.exchange) {
      const CollectiveCall call = call_of(*act.exchange);
      exchanged = act.part ? communicator().run_beside(call, tensor, last_) : communicator().run(call, tensor, last_);
      if (!act.part) last_ = exchanged;
    }
    for (std::size_t rank = 0; act.part && rank < size(); ++rank) {
      const TaskId input = after.empty() ? kNoTask : after[rank];
      last_[rank] = hosts_.run(graph_, rank, devices_[rank], stretch_of(rank, unit, forward, *act.part), tag,
                               {last_[rank], input});
      if (act.exchange) last_[rank] = graph_.delay({0}, tag, std::array{exchanged[rank], last_[rank]});
    }
    after.clear();
  }
}

void TensorGroup::pass(int first, int last, bool forward, const std::string& name, const Tasks& inputs) {
  for (int unit = first; basis_ != nullptr && forward && unit <= last; ++unit) {
    for (std::size_t rank = 0; rank < size(); ++rank) *basis_ += work(rank, unit).basis;
  }
  if (passages_) {
    const auto [at, is_new] = passes_.try_emplace({first, last, forward});
    if (is_new) at->second = whole_pass(first, last, forward);
    const Pass direction = forward ? Pass::kForward : Pass::kBackward;
    if (at->second.inside) return run_whole(at->second, graph_.tag({name, class_of(direction), direction}), inputs);
  }
  Tasks after = inputs;
  for (int i = 0; i <= last - first; ++i) {
    run_unit(forward ? first + i : last - i, forward, name, after);
    after.clear();
  }
}

Tasks TensorGroup::gather(TagId tag, const Tasks& ready) {
  const auto [known, first] = passages_ ? alone(Collective::kAllGather, {}) : std::pair<const Alone*, std::size_t>{};
  if (known == nullptr) return communicator().run(call_of(Collective::kAllGather), tag, ready);
  if (!gathering_) {
    Inside inside;
    inside.add(known->inside, {}, first);
    gathering_ = std::make_shared<const Inside>(std::move(inside));
  }
  auto [begin, meeting] = meet(ready, tag);
  if (is_in_vm()) meeting = kNoTask;  // its GPUs wait for each other
  const auto next = static_cast<TaskId>(graph_.tasks().size());
  const TaskId task = graph_.delay(known->length, tag, std::array{begin});
  if (task == next) graph_.stands_for({devices_.front(), task, kNoTask, meeting, task, gathering_, exchangers_});
  return Tasks(size(), task);
}

Communicator& TensorGroup::communicator() {
  const LowerRequest& request = rules_.request;
  if (!communicator_) communicator_.emplace(graph_, request.network, request.scenario.nccl_setup(), devices_);
  return *communicator_;
}

std::pair<const Alone*, std::size_t> TensorGroup::alone(Collective collective, const std::optional<Beside>& beside) {
  const CollectiveCall call = call_of(collective);
  const Beside other = beside.value_or(Beside{});
  const auto [at, is_new] = rules_.request.passages->known.try_emplace(
      {place_, collective, call.size.value, other.time.value, other.work.bound});
  if (is_new)
    at->second = run_alone(rules_.request.network, rules_.request.scenario.nccl_setup(), devices_, call, beside);
  if (!at->second) return {};
  const auto [begin, end] = communicator().connect(call);
  if (!exchangers_) exchangers_ = std::make_shared<Exchangers>();
  std::vector<int>& all = exchangers_->connections;
  const auto [offset, opens] = offsets_.try_emplace(begin, all.size());
  for (int number = begin; opens && number < end; ++number) {
    const int own = graph_.representative(number);
    const bool known = std::ranges::find(all, own) != all.end();
    all.push_back(known ? Exchangers::kRepeated : own);
    if (known) continue;
    const std::vector<int>& links = graph_.connections()[own].route.links;
    const std::vector<int>& crossed = at->second->crossed[static_cast<std::size_t>(number - begin)];
    for (std::size_t i = 0; i < links.size(); ++i) exchangers_->crossings.push_back({begin, links[i], crossed[i]});
  }
  return {&*at->second, offset->second};
}

// No host is late for what is beside an exchange: a stretch ends with its host's launches.
TensorGroup::WholePass TensorGroup::whole_pass(int first, int last, bool forward) {
  WholePass out;
  Inside inside;
  for (int i = 0; i <= last - first; ++i) {
    const int unit = forward ? first + i : last - i;
    for (const Act& act : acts_of(unit, forward)) {
      HostQueue::Stretch stretch;
      if (act.part) stretch = stretch_of(0, unit, forward, *act.part);
      inside.computed += stretch.gpu.value;
      const Inside::Span at{out.stretch.gpu.value, out.stretch.from_host.value, stretch.gpu.value};
      if (act.exchange) {
        const auto [known, offset] =
            alone(*act.exchange, act.part ? std::optional(Beside{stretch.gpu, stretch.of_gpu()}) : std::nullopt);
        if (known == nullptr) return {};
        inside.add(known->inside, at, offset);
        stretch.gpu = known->length;
      } else {
        inside.computing.push_back(at);
      }
      out.stretch.append(stretch);
    }
  }
  out.inside = std::make_shared<const Inside>(std::move(inside));
  return out;
}

std::pair<TaskId, TaskId> TensorGroup::meet(const Tasks& tasks, TagId tag) {
  const Tasks distinct = distinct_of(tasks);
  if (distinct.size() == 1) return {distinct.front(), kNoTask};
  const TaskId join = graph_.delay({0}, tag, distinct);
  return {join, join};
}

void TensorGroup::run_whole(const WholePass& pass, TagId tag, const Tasks& inputs) {
  const Tasks before = last_;
  for (std::size_t rank = 0; !inputs.empty() && rank < size(); ++rank) {
    if (inputs[rank] != kNoTask) last_[rank] = graph_.delay({0}, tag, std::array{last_[rank], inputs[rank]});
  }
  const auto [begin, meeting] = meet(last_, tag);
  std::shared_ptr<const Exchangers> exchangers = exchangers_;
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const auto next = static_cast<TaskId>(graph_.tasks().size());
    const HostQueue::Merged made =
        hosts_.run_merged(graph_, rank, devices_[rank], pass.stretch, tag, begin, before[rank]);
    last_[rank] = made.end;
    if (made.gpu != next) continue;
    graph_.stands_for(
        {devices_[rank], made.gpu, made.launching, meeting, made.end, pass.inside, std::exchange(exchangers, nullptr)});
  }
}

}  // namespace slmsim
