// How the kinds of links of each node were used: both directions of all its links of a kind together, as the counters of a
// node add them up. A link between two GPUs is seen at both of its ends.
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
