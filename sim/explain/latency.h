// How the pick changes with the round-trip time between VMs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/predict/algorithm.h"

namespace slmsim {

// All wide-area links are scaled by one factor (the round-trip times inside sites where there are no such links); `rtt` is that
// of the longest.
struct LatencyPoint {
  Seconds rtt;
  std::vector<Prediction> predictions;  // of one model, without plans
  Selection pick;
};
// The pick is `below` up to `rtt` and `above` from there on; found by bisection to 1 %.
struct PickChange {
  Seconds rtt;
  Selection below, above;
};
struct LatencySweep {
  bool wide_area = true;
  bool alike = true;                 // all links have the same round-trip time
  Seconds own;                       // the scenario's own, of the longest link
  std::vector<LatencyPoint> points;  // by rtt; one of them is `own`
  std::vector<PickChange> changes;
};

// From 0.1 to 300 ms, and further where the scenario's own value lies outside. `predictions` of the unchanged scenario are
// reused for GPUs that the change does not affect. Nothing where no group of the scenario spans two VMs, or where one has so
// many GPUs that the sweep would take minutes (more than kMostSweptGpus).
inline constexpr std::size_t kMostSweptGpus = 32;
// `stop`: called before each prediction, from several threads at once where `threads` is more than one; throws Stopped where it
// returns true.
std::optional<LatencySweep> sweep_latency(const Scenario& scenario, const Transformer& model,
                                          const std::vector<Prediction>& predictions,
                                          const std::function<bool()>& stop = {}, std::size_t threads = 1);

}  // namespace slmsim
