// Data parallelism: every GPU holds the whole model and computes its share of each micro-batch; the gradients
// are all-reduced once per iteration as one fused buffer (Alpa: no overlap with the backward pass).
#include "sim/plan/techniques/replicas.h"
#include "sim/plan/techniques/technique_plan.h"

namespace slmsim {

PlanResult plan_data(const PlanRequest& request) { return plan_replicas(request); }

}  // namespace slmsim
