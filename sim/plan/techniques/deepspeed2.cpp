// DeepSpeed's ZeRO-2 (arXiv 1910.02054, section 5.2): gradients are divided as well, so that a reduce-scatter is enough.
// With `overlap_comm` off, DeepSpeed's default for stage 2, the backward pass stands still while a bucket is reduced, which
// takes as long as reducing all of them after it.
#include "sim/plan/replica_run.h"
#include "sim/plan/techniques/replicas.h"

namespace slmsim {

PlanResult plan_deepspeed2(const PlanRequest& request) { return plan_replicas(request, {.stage = 2, .bucket = {}}); }

TaskGraph lower_deepspeed2(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, run.none());
  for (std::size_t unit = run.units(); unit-- > 0;) run.backward(unit, run.none());
  const Stack& stack = run.scenario().stack;
  const double count = run.parameters();
  const Tasks reduced = run.collective(Collective::kReduceScatter, Bytes{count * run.gradient_element()},
                                       stack.reduce_bucket, "reduce-scatter grads", run.gpu_done());
  const Tasks updated = run.adam(count / static_cast<double>(run.ranks()), reduced);
  run.collective(Collective::kAllGather, Bytes{count * run.element()}, stack.gather_bucket, "all-gather parameters",
                 updated);
  return run.finish();
}

}  // namespace slmsim
