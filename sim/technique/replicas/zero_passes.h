// Passes of DeepSpeed's ZeRO: stages 1 and 2, and stage 3.
#pragma once

#include <functional>

#include "sim/technique/replicas/replica_run.h"

namespace slmsim {

// Fills buckets with all gradients: copied there, and divided by the number of ranks (stage_1_and_2.py,
// reduce_independent_p_g_buckets_and_remove_grads and average_tensor).
Tasks fill_buckets(ReplicaRun& run);

// An iteration of replicas that hold all parameters (DeepSpeed's ZeRO-1 and ZeRO-2): after both passes all gradients are
// reduced by this collective, each GPU updates its part, and the parameters are gathered.
Lowered reduce_and_gather(const LowerRequest& request, Collective collective, const std::string& name);

// Forward and backward pass of ZeRO-3 (arXiv 1910.02054, section 5.3): every layer's parameters are gathered before it
// runs and released after it; the next layers' are gathered meanwhile, as long as no more than live_parameters are
// there (partitioned_param_coordinator.py, _fetch_sub_module_impl: each of a layer's modules asks for another prefetch
// bucket). Those whose next use is near stay: fewer than live_parameters are used in between (__params_to_release;
// stage3_max_reuse_distance defaults to the same number). Gradients are reduce-scattered by buckets as they are computed.
// With adapters these are the adapters' only, and units without a backward pass are not gathered for it.
//
// Gathered data is stored by rank and is copied together (partition_parameters.py, AllGatherCoalescedHandle.wait);
// gradients are copied to a bucket, from there to the order of ranks, and divided (stage3.py, __add_grad_to_ipg_bucket;
// coalesced_collectives.py, reduce_scatter_coalesced).
struct Stage3Hooks {
  // Copies a rank's own part of a unit's parameters to its GPU before it is gathered; absent: it is there already.
  std::function<Tasks(std::size_t unit, const Tasks& after)> fetch;
  // Receives a rank's part of a unit's gradients, reduced.
  std::function<void(std::size_t unit, const Tasks& reduced)> keep;
};

// Returns the tasks after which every rank has all its reduced gradients.
Tasks stage3_passes(ReplicaRun& run, const Stage3Hooks& hooks = {});

// Copies a rank's part of a unit's gradients to host memory, for the micro-batch of this number; from the second on,
// the sum so far is fetched first and added to (DeepSpeed's stage3.py, partition_grads).
Tasks stage3_gradients_to_host(ReplicaRun& run, std::size_t unit, int batch, const Tasks& reduced);

}  // namespace slmsim
