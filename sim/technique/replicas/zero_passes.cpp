#include "sim/technique/replicas/zero_passes.h"

#include "sim/technique/common/layer_work.h"

namespace slmsim {

void undivided_passes(ReplicaRun& run) {
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, run.none());
  for (std::size_t unit = run.units(); unit-- > 0;) run.backward(unit, run.none());
}

Tasks fill_buckets(ReplicaRun& run) {
  const double element = run.element(), sent = run.gradient_element();
  return run.copy_buffers(Bytes{run.parameters() * (copied(element) + converted(element, sent) + copied(sent))},
                          "grads to buckets", run.none());
}

Lowered reduce_and_gather(const LowerRequest& request, Collective collective, const std::string& name) {
  ReplicaRun run(request);
  run.launch();
  const double count = run.parameters();
  Tasks reduced;
  for (int batch = 0; batch < run.micro_batches(); ++batch) {
    undivided_passes(run);
    // Whole gradients are accumulated; parts of them are reduced for each micro-batch (DeepSpeed's engine.py,
    // allreduce_gradients), before the next one.
    const bool is_last = batch + 1 == run.micro_batches();
    if (collective == Collective::kAllReduce && !is_last) continue;
    reduced =
        run.collective(collective, Bytes{count * run.gradient_element()}, run.reduce_bucket(), name, fill_buckets(run));
    if (!is_last) run.wait(reduced);
  }
  const Tasks updated = run.adam(count / static_cast<double>(run.ranks()), reduced);
  run.collective(Collective::kAllGather, Bytes{count * run.element()}, run.gather_bucket(), "all-gather parameters",
                 updated);
  return run.finish();
}

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
  const double sent = run.gradient_element();
  const double per_gradient = copied(run.element()) + converted(run.element(), sent) + 2 * copied(sent);
  const std::size_t units = run.units();
  // While a unit computes, the next one's parameters are gathered, beginning with the unit's start, which is the end of
  // the one before.
  Tasks done = run.gpu_done();
  Tasks gathered = gather(0, run.none());
  for (std::size_t unit = 0; unit < units; ++unit) {
    const Tasks ahead = unit + 1 < units ? gather(unit + 1, done) : gathered;
    if (unit > 0 && unit + 1 < units) run.host_work(hook, "fetch and release", run.none());
    done = run.forward(unit, together(unit, gathered));
    gathered = ahead;
  }
  Tasks reduced = run.none();
  // The last unit's parameters are still gathered.
  for (std::size_t unit = units; unit-- > 0;) {
    if (!run.goes_back(unit)) break;
    const Tasks ahead = unit > 0 && run.goes_back(unit - 1) ? gather(unit - 1, done) : gathered;
    if (unit > 0 && unit + 1 < units) run.host_work(hook, "fetch and release", run.none());
    done = run.backward(unit, unit + 1 < units ? together(unit, gathered) : gathered);
    gathered = ahead;
    if (run.parameters(unit) == 0) continue;
    const Tasks filled = run.copy_buffers(Bytes{run.parameters(unit) * per_gradient}, "grads to bucket", run.none());
    reduced = run.collective(Collective::kReduceScatter, Bytes{run.parameters(unit) * sent}, {}, "reduce-scatter grads",
                             filled);
    if (hooks.keep) hooks.keep(unit, reduced);
  }
  return reduced;
}

Tasks stage3_gradients_to_host(ReplicaRun& run, std::size_t unit, int batch, const Tasks& reduced) {
  const Bytes size{run.parameters(unit) / static_cast<double>(run.ranks()) * run.gradient_element()};
  const Tasks sums = batch > 0 ? run.copy(false, size, "sums to GPU", reduced) : reduced;
  return run.copy(true, size, "grads to host", sums);
}

}  // namespace slmsim
