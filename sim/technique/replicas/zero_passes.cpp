#include "sim/technique/replicas/zero_passes.h"

#include <vector>

#include "sim/technique/common/layer_work.h"

namespace slmsim {

Tasks fill_buckets(ReplicaRun& run) {
  const double element = run.element(), sent = run.gradient_element();
  return run.copy_buffers(Bytes{run.parameters() * (copied(element) + converted(element, sent) + copied(sent))},
                          "grads to buckets", run.none());
}

Lowered reduce_and_gather(const LowerRequest& request, Collective collective, const std::string& name) {
  ReplicaRun run(request);
  run.launch();
  const double count = run.parameters();
  // Whole gradients are accumulated; parts of them are reduced for each micro-batch (DeepSpeed's engine.py,
  // allreduce_gradients), before the next one.
  const int at_once = collective == Collective::kAllReduce ? run.micro_batches() : 1;
  Tasks reduced = run.none();
  for (int batch = 0; batch < run.micro_batches(); batch += at_once) {
    run.wait(reduced);
    run.accumulate(at_once, run.none());
    reduced =
        run.collective(collective, Bytes{count * run.gradient_element()}, run.reduce_bucket(), name, fill_buckets(run));
  }
  const Tasks updated = run.adam(count / static_cast<double>(run.ranks()), reduced);
  run.collective(Collective::kAllGather, Bytes{count * run.element()}, run.gather_bucket(), "all-gather parameters",
                 updated);
  return run.finish();
}

namespace {

// A unit's forward or backward pass.
struct UnitUse {
  std::size_t unit = 0;
  bool is_backward = false;
  bool gathers = true;  // its parameters are not there yet
  bool stays = false;   // they stay for the backward pass
};

std::vector<UnitUse> uses_of(const ReplicaRun& run) {
  std::vector<UnitUse> out(run.units());
  double between = 0;  // parameters used between both passes of a unit
  for (std::size_t unit = run.units(); unit-- > 0;) {
    out[unit] = {.unit = unit, .stays = run.goes_back(unit) && between < run.scenario().framework.live_parameters};
    between += 2 * run.held(unit);
  }
  for (std::size_t unit = run.units(); unit-- > 0 && run.goes_back(unit);)
    out.push_back({.unit = unit, .is_backward = true, .gathers = !out[unit].stays});
  return out;
}

// Gradients on their way into a bucket, which is reduced once the next unit's would not fit (stage3.py,
// reduce_independent_p_g_buckets_and_remove_grads).
class GradientBucket {
 public:
  GradientBucket(ReplicaRun& run, const Stage3Hooks& hooks) : run_(run), hooks_(hooks), reduced_(run.none()) {}

  void add(std::size_t unit) {
    const double count = run_.parameters(unit), element = run_.element(), sent = run_.gradient_element();
    if (count == 0) return;
    if (Bytes{(count_ + count) * sent} > run_.reduce_bucket()) reduce();
    filled_ = run_.copy_buffers(Bytes{count * (copied(element) + converted(element, sent) + 2 * copied(sent))},
                                "grads to bucket", run_.none());
    count_ += count;
    units_.push_back(unit);
  }

  Tasks reduce() {
    if (units_.empty()) return reduced_;
    reduced_ = run_.collective(Collective::kReduceScatter, Bytes{count_ * run_.gradient_element()}, {},
                               "reduce-scatter grads", filled_);
    if (hooks_.keep) {
      for (const std::size_t unit : units_) hooks_.keep(unit, reduced_);
    }
    units_.clear();
    count_ = 0;
    return reduced_;
  }

 private:
  ReplicaRun& run_;
  const Stage3Hooks& hooks_;
  Tasks reduced_, filled_;
  std::vector<std::size_t> units_;
  double count_ = 0;
};

}  // namespace

Tasks stage3_passes(ReplicaRun& run, const Stage3Hooks& hooks) {
  const Seconds hook = run.scenario().framework.module_hook;
  const auto gather = [&](std::size_t unit, const Tasks& after) {
    const Tasks own = hooks.fetch ? hooks.fetch(unit, after) : after;
    return run.collective(Collective::kAllGather, Bytes{run.held(unit) * run.element()}, {}, "all-gather parameters",
                          own);
  };
  const auto together = [&](std::size_t unit, const Tasks& gathered) {
    return run.copy_buffers(Bytes{copied(run.held(unit) * run.element())}, "gathered parameters", gathered);
  };
  const std::size_t units = run.units();
  const std::vector<UnitUse> uses = uses_of(run);
  const double live = run.scenario().framework.live_parameters;
  std::vector<Tasks> gathered(uses.size(), run.none());
  GradientBucket bucket(run, hooks);
  Tasks done = run.gpu_done();
  std::size_t next = 0;
  double available = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const auto& [unit, is_backward, gathers, stays] = uses[i];
    // The next one at least, and more while they are few enough; from drives one at a time.
    for (; next < uses.size(); ++next) {
      const double more = uses[next].gathers ? run.held(uses[next].unit) : 0;
      if (next > i + 1 && (hooks.fetch || available + more > live)) break;
      if (!uses[next].gathers) continue;
      gathered[next] = gather(uses[next].unit, next == 0 ? run.none() : done);
      available += more;
    }
    if (unit > 0 && unit + 1 < units) run.host_work(hook, "fetch and release", run.none());
    const Tasks ready = gathers ? together(unit, gathered[i]) : run.none();
    done = is_backward ? run.backward(unit, ready) : run.forward(unit, ready);
    if (!stays) available -= run.held(unit);
    if (is_backward) bucket.add(unit);
  }
  return bucket.reduce();
}

Tasks stage3_gradients_to_host(ReplicaRun& run, std::size_t unit, int batch, const Tasks& reduced) {
  const Bytes size{run.parameters(unit) / static_cast<double>(run.ranks()) * run.gradient_element()};
  const Tasks sums = batch > 0 ? run.copy(false, size, "sums to GPU", reduced) : reduced;
  return run.copy(true, size, "grads to host", sums);
}

}  // namespace slmsim
