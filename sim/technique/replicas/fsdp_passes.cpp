#include <deque>

#include "sim/technique/common/layer_work.h"
#include "sim/technique/replicas/fsdp.h"

namespace slmsim {
namespace {

// Number of freed units before the host waits for one: _FreeEventQueue of _limiter_utils.py.
constexpr std::size_t kMostFreed = 2;

class Passes {
 public:
  Passes(ReplicaRun& run, const FsdpPlan& plan)
      : run_(run),
        plan_(plan),
        shards_(plan.shards),
        layers_(run.units() - 2),
        gathered_(layers_ + 1),
        reduced_(run.none()) {}

  Tasks run() {
    for (int batch = 0; batch < run_.micro_batches(); ++batch) {
      sync_ = !plan_.no_sync || batch + 1 == run_.micro_batches();
      forward();
      backward();
    }
    return reduced_;
  }

 private:
  // Units by number: 0 the root, then the layers.
  double trained(std::size_t unit) const {
    return unit == 0 ? run_.parameters(0) + run_.parameters(layers_ + 1) : run_.parameters(unit);
  }
  double frozen(std::size_t unit) const {
    return unit == 0 ? run_.frozen(0) + run_.frozen(layers_ + 1) : run_.frozen(unit);
  }
  Bytes fp32_part(std::size_t unit) const { return Bytes{trained(unit) / shards_ * element_bytes(Precision::kFp32)}; }

  // The host issues the gather now, unless the unit is gathered already.
  void gather(std::size_t unit) {
    if (gathered_[unit]) return;
    Tasks after = run_.none();
    if (plan_.limit_all_gathers && freed_.size() >= kMostFreed) {
      after = freed_.front();
      freed_.pop_front();
    }
    if (plan_.offload)
      after = run_.copy(false, fp32_part(unit) + Bytes{frozen(unit) / shards_ * run_.element()}, "parameters to GPU",
                        after);
    const Bytes size{(trained(unit) + frozen(unit)) * run_.element()};
    gathered_[unit] = plan_.is_hybrid()
                          ? run_.collective(ReplicaRun::Reach::kInsideVm, Collective::kAllGather, size,
                                            "all-gather parameters", after)
                          : run_.collective(Collective::kAllGather, size, {}, "all-gather parameters", after);
  }

  // Frees a unit after the work issued to the GPU so far.
  void free(std::size_t unit) {
    gathered_[unit].reset();
    if (plan_.limit_all_gathers) freed_.push_back(run_.gpu_done());
  }

  void reduce(std::size_t unit) {
    const double element = run_.element(), sent = run_.gradient_element();
    const double moved = copied(element) + (sync_ ? converted(element, sent) + copied(sent) : 0.0);
    const Tasks done = run_.copy_buffers(Bytes{trained(unit) * moved}, "grads to one tensor", run_.none());
    if (!sync_ || trained(unit) == 0) return;
    const Bytes size{trained(unit) * sent};
    if (plan_.is_hybrid()) {
      const Tasks inside =
          run_.collective(ReplicaRun::Reach::kInsideVm, Collective::kReduceScatter, size, "reduce-scatter grads", done);
      reduced_ = run_.collective(ReplicaRun::Reach::kAcrossVms, Collective::kAllReduce, size / shards_,
                                 "all-reduce grads between VMs", inside);
    } else {
      reduced_ = run_.collective(Collective::kReduceScatter, size, {}, "reduce-scatter grads", done);
    }
    if (plan_.offload) reduced_ = run_.copy(true, fp32_part(unit), "grads to host", reduced_);
  }

  void forward() {
    gather(0);
    run_.forward(0, *gathered_[0]);
    for (std::size_t unit = 1; unit <= layers_; ++unit) {
      gather(unit);
      const Tasks own = *gathered_[unit];
      if (plan_.forward_prefetch && unit < layers_) gather(unit + 1);
      run_.forward(unit, own);
      if (plan_.frees_after_forward()) free(unit);
    }
    run_.forward(layers_ + 1, run_.none());
  }

  void backward() {
    // Parameters that stay are not freed until gradients are reduced.
    const bool frees = sync_ || plan_.frees_after_forward();
    run_.backward(layers_ + 1, run_.none());
    for (std::size_t unit = layers_; unit > 0; --unit) {
      gather(unit);
      const Tasks own = *gathered_[unit];
      if (plan_.backward == FsdpPrefetch::kBefore && unit > 1) gather(unit - 1);
      run_.backward(unit, own);
      if (frees) free(unit);
      if (plan_.backward == FsdpPrefetch::kAfter && unit > 1) gather(unit - 1);
      reduce(unit);
    }
    run_.backward(0, run_.none());
    if (frees) free(0);
    reduce(0);
  }

  ReplicaRun& run_;
  const FsdpPlan& plan_;
  int shards_;
  std::size_t layers_;
  bool sync_ = true;
  std::vector<std::optional<Tasks>> gathered_;
  std::deque<Tasks> freed_;  // the computations after which units were freed, the oldest first
  Tasks reduced_;
};

}  // namespace

Tasks fsdp_passes(ReplicaRun& run, const FsdpPlan& plan) { return Passes(run, plan).run(); }

}  // namespace slmsim
