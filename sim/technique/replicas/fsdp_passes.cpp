#include <deque>

#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/pipeline_walk.h"
#include "sim/technique/replicas/fsdp.h"

namespace slmsim {
namespace {

// Number of freed units before the host waits for one: _FreeEventQueue of _limiter_utils.py.
constexpr std::size_t kMostFreed = 2;

// Passes of the replicas of one stage.
class Passes {
 public:
  Passes(ReplicaRun& run, const FsdpPlan& plan, std::size_t stage)
      : run_(run),
        plan_(plan),
        stage_(stage),
        head_(run.units() - 1),
        has_embedding_(run.units_of(stage).first == 0),
        has_head_(run.units_of(stage).second == head_),
        first_(std::max<std::size_t>(run.units_of(stage).first, 1)),
        last_(std::min(run.units_of(stage).second, head_ - 1)),
        units_((last_ - first_) / static_cast<std::size_t>(plan.unit_layers) + 1),
        gathered_(units_ + 1),
        reduced_(run.none()) {}

  void forward() {
    run_.enter(stage_);
    gather(0);
    if (has_embedding_) run_.forward(0, *gathered_[0]);
    for (std::size_t unit = 1; unit <= units_; ++unit) {
      gather(unit);
      const Tasks own = *gathered_[unit];
      if (plan_.forward_prefetch && unit < units_) gather(unit + 1);
      for (std::size_t layer = begin_of(unit); layer < begin_of(unit + 1); ++layer)
        run_.forward(layer, layer == begin_of(unit) ? own : run_.none());
      if (frees_after_forward()) free(unit);
    }
    if (has_head_) run_.forward(head_, has_embedding_ ? run_.none() : *gathered_[0]);
  }

  void backward(bool sync) {
    run_.enter(stage_);
    sync_ = sync;
    // Parameters that stay are not freed until gradients are reduced.
    const bool frees = sync || frees_after_forward();
    if (has_head_) run_.backward(head_, run_.none());
    for (std::size_t unit = units_; unit > 0; --unit) {
      gather(unit);
      const Tasks own = *gathered_[unit];
      if (plan_.backward == FsdpPrefetch::kBefore && unit > 1) gather(unit - 1);
      for (std::size_t layer = begin_of(unit + 1); layer-- > begin_of(unit);)
        run_.backward(layer, layer + 1 == begin_of(unit + 1) ? own : run_.none());
      if (frees) free(unit);
      if (plan_.backward == FsdpPrefetch::kAfter && unit > 1) gather(unit - 1);
      reduce(unit);
    }
    if (has_embedding_) run_.backward(0, run_.none());
    if (frees) free(0);
    reduce(0);
  }

  // Reduces the sums of all micro-batches.
  void reduce_sums() {
    run_.enter(stage_);
    const double element = run_.element(), sent = run_.gradient_element();
    const auto reduce_sum = [&](std::size_t unit) { send(unit, copy(unit, converted(element, sent) + copied(sent))); };
    reduce_sum(0);
    for (std::size_t unit = 1; unit <= units_; ++unit) reduce_sum(unit);
  }

  const Tasks& reduced() const { return reduced_; }

  // Trained parameters of the stage on each GPU.
  double own() const {
    double sum = trained(0);
    for (std::size_t unit = 1; unit <= units_; ++unit) sum += trained(unit);
    return sum / plan_.shards;
  }

 private:
  // Units by number: 0 the root, then those of layers. Parameters on each tensor-parallel GPU.
  template <class Count>
  double of_unit(std::size_t unit, Count count) const {
    double sum = 0;
    if (unit == 0)
      return ((has_embedding_ ? count(0) : 0.0) + (has_head_ ? count(head_) : 0.0)) / plan_.tensor.parts(false);
    for (std::size_t layer = begin_of(unit); layer < begin_of(unit + 1); ++layer) sum += count(layer);
    return sum / plan_.tensor.tensor;
  }
  // The first layer of a unit.
  std::size_t begin_of(std::size_t unit) const {
    return std::min(first_ + (unit - 1) * static_cast<std::size_t>(plan_.unit_layers), last_ + 1);
  }
  double trained(std::size_t unit) const {
    return of_unit(unit, [&](std::size_t u) { return run_.parameters(u); });
  }
  double frozen(std::size_t unit) const {
    return of_unit(unit, [&](std::size_t u) { return run_.frozen(u); });
  }
  // In the format that the optimizer updates.
  Bytes part_of(std::size_t unit) const {
    return Bytes{trained(unit) / plan_.shards * run_.scenario().training.update().element()};
  }
  bool frees_after_forward() const { return plan_.frees_after_forward() && plan_.pipeline == 1; }

  // The host issues the gather now, unless the unit is gathered already.
  void gather(std::size_t unit) {
    if (gathered_[unit]) return;
    Tasks after = run_.none();
    if (plan_.limit_all_gathers && freed_.size() >= kMostFreed) {
      after = freed_.front();
      freed_.pop_front();
    }
    if (plan_.offload)
      after = run_.copy(false, part_of(unit) + Bytes{frozen(unit) / plan_.shards * run_.element()}, "parameters to GPU",
                        after);
    const Bytes size{(trained(unit) + frozen(unit)) * run_.element()};
    gathered_[unit] =
        run_.collective(ReplicaRun::Reach::kShards, Collective::kAllGather, size, "all-gather parameters", after);
  }

  // Frees a unit after the work issued to the GPU so far.
  void free(std::size_t unit) {
    gathered_[unit].reset();
    if (plan_.limit_all_gathers) freed_.push_back(run_.gpu_done());
  }

  // Copies of a unit's gradients, with these bytes read and written for each parameter; a GPU that trains alone with its
  // parameters makes none.
  Tasks copy(std::size_t unit, double moved) {
    if (plan_.replicas == 1) return run_.gpu_done();
    return run_.copy_buffers(Bytes{trained(unit) * moved}, "grads to one tensor", run_.none());
  }

  void reduce(std::size_t unit) {
    const double element = run_.element(), sent = run_.gradient_element();
    const Tasks done = copy(unit, copied(element) + (sync_ ? converted(element, sent) + copied(sent) : 0.0));
    if (sync_) send(unit, done);
  }

  void send(std::size_t unit, const Tasks& done) {
    if (trained(unit) == 0) return;
    const Bytes size{trained(unit) * run_.gradient_element()};
    reduced_ =
        run_.collective(ReplicaRun::Reach::kShards, Collective::kReduceScatter, size, "reduce-scatter grads", done);
    if (plan_.is_hybrid())
      reduced_ = run_.collective(ReplicaRun::Reach::kCopies, Collective::kAllReduce, size / plan_.shards,
                                 "all-reduce grads of copies", reduced_);
    if (plan_.offload) reduced_ = run_.copy(true, part_of(unit), "grads to host", reduced_);
  }

  ReplicaRun& run_;
  const FsdpPlan& plan_;
  std::size_t stage_, head_;
  bool has_embedding_, has_head_;
  std::size_t first_, last_;  // layers, in the run's numbers
  std::size_t units_;         // of layers
  bool sync_ = true;
  std::vector<std::optional<Tasks>> gathered_;
  std::deque<Tasks> freed_;  // the computations after which units were freed, the oldest first
  Tasks reduced_;
};

// All stages. A stage's parameters stay whole from its first micro-batch on, and its gradients are reduced after the last
// one (torch/distributed/pipelining/stage.py).
void run_pipeline(ReplicaRun& run, const FsdpPlan& plan, std::vector<Passes>& stages) {
  std::vector<std::vector<Step>> steps;
  steps.reserve(stages.size());
  for (int s = 0; s < plan.pipeline; ++s) steps.push_back(interleaved_steps(s, plan.pipeline, 1, run.micro_batches()));
  const PipelineActs acts = {.compute =
                                 [&](std::size_t s, const Step& step, const Tasks&) {
                                   if (step.forward)
                                     stages[s].forward();
                                   else
                                     stages[s].backward(false);
                                   return run.of_stage(run.gpu_done());
                                 },
                             .send = [&](std::size_t from, std::size_t to, const Step& step, const Tasks& ready,
                                         const Tasks& posted) { return run.send(from, to, step, ready, posted); },
                             .last =
                                 [&](std::size_t s) {
                                   run.enter(s);
                                   return run.of_stage(run.gpu_done());
                                 },
                             .wait =
                                 [&](std::size_t s, const Step&, const std::vector<Tasks>& after) {
                                   run.enter(s);
                                   for (const Tasks& tasks : after) run.wait(run.spread(tasks));
                                 }};
  run.walk(steps, acts);
  for (Passes& stage : stages) stage.reduce_sums();
}

}  // namespace

void fsdp_passes(ReplicaRun& run, const FsdpPlan& plan,
                 const std::function<void(double own, const Tasks& reduced)>& update) {
  std::vector<Passes> stages;
  for (std::size_t s = 0; s < static_cast<std::size_t>(plan.pipeline); ++s) stages.emplace_back(run, plan, s);
  if (plan.pipeline > 1) {
    run_pipeline(run, plan, stages);
  } else {
    for (int batch = 0; batch < run.micro_batches(); ++batch) {
      stages.front().forward();
      stages.front().backward(!plan.no_sync || batch + 1 == run.micro_batches());
    }
  }
  for (std::size_t s = 0; s < stages.size(); ++s) {
    run.enter(s);
    update(stages[s].own(), stages[s].reduced());
  }
}

}  // namespace slmsim
