// DeepSpeed's ZeRO-3 (arXiv 1910.02054, section 5.3): parameters, gradients and optimizer state divided. Each GPU updates
// the part it owns; nothing is gathered after it, since the next iteration gathers layer by layer.
#include "sim/plan/techniques/replicas.h"
#include "sim/plan/techniques/stage3_passes.h"

namespace slmsim {

PlanResult plan_deepspeed3(const PlanRequest& request) { return plan_replicas(request, {.stage = 3, .bucket = {}}); }

TaskGraph lower_deepspeed3(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  const Tasks reduced = stage3_passes(run);
  run.adam(run.parameters() / static_cast<double>(run.ranks()), reduced);
  return run.finish();
}

}  // namespace slmsim
