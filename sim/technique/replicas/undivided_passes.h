// Passes of replicas that hold all parameters (DeepSpeed's ZeRO-1 and ZeRO-2): the exchange follows both passes.
#pragma once

#include "sim/technique/replicas/replica_run.h"

namespace slmsim {

void undivided_passes(ReplicaRun& run);

// Fills buckets with all gradients: copied there, and divided by the number of ranks (stage_1_and_2.py,
// reduce_independent_p_g_buckets_and_remove_grads and average_tensor).
Tasks fill_buckets(ReplicaRun& run);

// An iteration that then reduces all gradients by this collective, updates each GPU's part, and gathers the parameters.
Lowered reduce_and_gather(const LowerRequest& request, Collective collective, const std::string& name);

}  // namespace slmsim
