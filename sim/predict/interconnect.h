// Use of each node's links by kind: both directions of all links of a kind together, as a node's counters add them up. A link
// between two GPUs counts at both ends.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/measure.h"

namespace slmsim {

struct InterconnectUse {
  int vm = 0;                // index into Platform::vms
  std::string interconnect;  // "NVLink"
  Bytes bytes;
  BytesPerSecond average, p90, peak;  // over the iteration; p90 by time
  BytesPerSecond capacity;            // data sheet
  std::vector<RateStep> steps;        // the timeline
};

// In the order of nodes and of the links in their files; also kinds that carried nothing. Needs recorded flows.
std::vector<InterconnectUse> interconnect_use(const TaskGraph& graph, const Timeline& timeline);

}  // namespace slmsim
