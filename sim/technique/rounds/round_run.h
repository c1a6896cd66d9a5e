// A round of replicas that train independently (sim/technique/rounds/round_plan.h): inner steps without dependencies between
// replicas, the exchange of each fragment on a stream of its own, and its update.
//
// An inner step consists of a forward and a backward pass of every micro-batch and Adam; a replica with several GPUs
// sums its gradients in buckets during the last backward pass, as DDP does. After step `begin` of a fragment
// (fragment_steps) and before the next one
//
//   average:  encode - sum - decode - cast of the passes' parameters
//   Nesterov: difference to the outer parameters - encode - sum - decode - outer update - cast
//
// where everything from the decoding on happens after step `end`; the GPU waits for the sum if necessary. Kernels are
// bound by memory: a difference moves 12 bytes per parameter (two fp32 are read, one is written), the outer update 20
// (difference, momentum and outer parameters are read, the latter two written), the cast the bytes that it reads and
// writes. With the outer state in host memory the CPU moves these 20 bytes; outer parameters are copied to the GPU for
// the difference, differences to the host, and new parameters back.
//
// GPUs of a replica share the work: each exchanges and updates its part of a fragment, with the GPUs of the same
// position in other replicas, and the replica gathers the parameters.
#pragma once

#include "sim/technique/common/lower.h"

namespace slmsim {

// For a plan whose `by` is a RoundPlan.
Lowered lower_round(const LowerRequest& request);

}  // namespace slmsim
