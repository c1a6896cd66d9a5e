// A round of replicas that go their own way (sim/plan/round_plan.h): inner steps without an edge between replicas, the
// exchange of each fragment on a stream of its own, and its update.
//
// An inner step is a forward and a backward pass of every micro-batch and Adam; where a replica has several GPUs they sum
// their gradients in buckets during the last backward pass, as DDP does. After step `begin` of a fragment (fragment_steps)
// and before the next one
//
//   average:  encode - sum - decode - cast of what the passes use
//   Nesterov: difference to the outer parameters - encode - sum - decode - outer update - cast
//
// of which all from the decoding on happens after step `end`, when the GPU waits for the sum if it is not there yet. Kernels
// are bound by memory: a difference moves 12 bytes per parameter (two fp32 are read, one is written), the outer update 20
// (difference, momentum and outer parameters are read, the latter two written), the cast as many as it reads and writes.
// With the outer state in host memory the CPU moves these 20 bytes; outer parameters come to the GPU for the difference,
// differences go to the host, and new parameters come back.
//
// GPUs of a replica share the work: each exchanges and updates its part of a fragment, with the GPUs of the same place in
// other replicas, and the replica gathers the parameters.
#pragma once

#include "sim/lower/lower.h"

namespace slmsim {

// Of a plan whose `by` is a RoundPlan.
Lowered lower_round(const LowerRequest& request);

}  // namespace slmsim
