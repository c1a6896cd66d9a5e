// DeepSpeed's ZeRO-1 (arXiv 1910.02054, section 5.1): the optimizer's state is divided. All gradients are all-reduced after
// the backward pass, each GPU updates its part, and all gather the parameters.
#include "sim/plan/replica_run.h"
#include "sim/plan/techniques/replicas.h"

namespace slmsim {

PlanResult plan_deepspeed1(const PlanRequest& request) { return plan_replicas(request, {.stage = 1, .bucket = {}}); }

TaskGraph lower_deepspeed1(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, run.none());
  for (std::size_t unit = run.units(); unit-- > 0;) run.backward(unit, run.none());
  const Stack& stack = run.scenario().stack;
  const double count = run.parameters();
  const Tasks reduced = run.collective(Collective::kAllReduce, Bytes{count * run.gradient_element()},
                                       stack.reduce_bucket, "all-reduce grads", run.gpu_done());
  const Tasks updated = run.adam(count / static_cast<double>(run.ranks()), reduced);
  run.collective(Collective::kAllGather, Bytes{count * run.element()}, stack.gather_bucket, "all-gather parameters",
                 updated);
  return run.finish();
}

}  // namespace slmsim
