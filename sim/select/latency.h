// How the pick changes with the round-trip time between VMs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/select/algorithm.h"

namespace slmsim {

// All wide-area links are made shorter or longer by one factor (the round-trip times inside sites where there are no
// such links); `rtt` is that of the longest.
struct LatencyPoint {
  Seconds rtt;
  std::vector<Prediction> predictions;  // of one model, without plans
  Selection pick;
};
// Up to `rtt` it is `below`, from there on `above`; found by bisection to 1 %.
struct PickChange {
  Seconds rtt;
  Selection below, above;
};
struct LatencySweep {
  bool wide_area = true;
  bool alike = true;                 // all links have the same round-trip time
  Seconds own;                       // of the scenario as it is, the longest
  std::vector<LatencyPoint> points;  // by rtt; one of them is `own`
  std::vector<PickChange> changes;
};

// From 0.1 to 300 ms, and further where the scenario lies there. `predictions` of the scenario as it is are used again
// for GPUs that the change does not concern. Nothing where no group of the scenario spans two VMs, or where one has so
// many GPUs that the sweep would take minutes (more than kMostSweptGpus).
inline constexpr std::size_t kMostSweptGpus = 32;
// `stop`: asked before each prediction; throws Stopped where it says so.
std::optional<LatencySweep> sweep_latency(const Scenario& scenario, const Transformer& model,
                                          const std::vector<Prediction>& predictions,
                                          const std::function<bool()>& stop = {});

bool same_pick(const Selection& a, const Selection& b);

}  // namespace slmsim
