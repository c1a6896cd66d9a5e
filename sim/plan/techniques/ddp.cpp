// PyTorch's DistributedDataParallel (Li et al., VLDB 2020, section 3.2): replicas; gradients are all-reduced in buckets, in
// the order in which the backward pass makes them, while it goes on. The embedding's gradient is the last, since the tied
// head adds to it first.
#include <algorithm>

#include "sim/plan/replica_run.h"
#include "sim/plan/techniques/replicas.h"

namespace slmsim {

PlanResult plan_ddp(const PlanRequest& request) {
  return plan_replicas(request, {.stage = 0, .bucket = request.options.bucket});
}

TaskGraph lower_ddp(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, run.none());
  const Bytes bucket = run.plan().bucket;
  Bytes waiting{0};
  Tasks reduced = run.none();
  for (std::size_t unit = run.units(); unit-- > 0;) {
    const Tasks done = run.backward(unit, run.none());
    waiting += Bytes{run.parameters(unit) * run.gradient_element()};
    for (; waiting > Bytes{0} && (waiting >= bucket || unit == 0); waiting -= std::min(waiting, bucket))
      reduced = run.collective(Collective::kAllReduce, std::min(waiting, bucket), {}, "all-reduce grads", done);
  }
  run.adam(run.parameters(), reduced);
  return run.finish();
}

}  // namespace slmsim
