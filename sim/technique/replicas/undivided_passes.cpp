#include "sim/technique/replicas/undivided_passes.h"

#include "sim/technique/common/buffer_copies.h"

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

}  // namespace slmsim
