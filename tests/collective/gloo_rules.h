// The rules by which Gloo runs its rings.
//
// Gloo cuts each rank's share into segments and moves all segments of a step before those of the next; two are under
// way per rank, so a rank waits for the last segment but one; it sends a segment only when the receiver has said that it
// waits for it, which it says once the segment before the last has come; and an all-reduce gathers only after its
// reduce-scatter is over (gloo/allreduce.cc, ring; gloo/allgather.cc; gloo/transport/tcp/pair.cc, NOTIFY_RECV_READY).
#pragma once

#include <cmath>

#include "sim/collective/ring.h"

namespace slmsim {

inline RingRules gloo_all_reduce() {
  return {.channels = 1,
          .chunk = Bytes{1024.0 * 1024},  // kMaxSegmentSize, gloo/allreduce.h
          .order = Order::kStepAfterStep,
          .least_pieces = 2,
          .in_flight = 2,
          .announced = true,
          .phase_by_phase = true};
}

inline RingRules gloo_all_gather() {
  RingRules rules = gloo_all_reduce();
  rules.chunk = Bytes{INFINITY};  // always two halves of a share
  return rules;
}

}  // namespace slmsim
