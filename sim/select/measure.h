// What a timeline says about an iteration: where the time of the slowest GPU went, and how the links were
// used.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate.h"

namespace slmsim {

// Adds up to the iteration's time.
struct Breakdown {
  Seconds compute;                // forward and backward
  Seconds exposed_communication;  // the GPU waits while a transfer of its own is under way, or for its collective
  Seconds pipeline_bubble;        // it waits for other stages
  Seconds optimizer;
  Seconds overhead;  // launching
};

struct LinkUse {
  std::string link;
  Bytes bytes;
  BytesPerSecond average, p90, peak;  // over the iteration; p90 by time
};

// Of the GPU that computes longest. In a pipeline, waiting without a transfer of its own is bubble.
Breakdown break_down(const TaskGraph& graph, const Timeline& timeline, bool pipeline);

// Links that carried anything, in the network's order. Needs recorded flows; a flow counts with its mean
// rate.
std::vector<LinkUse> link_use(const TaskGraph& graph, const Timeline& timeline);

}  // namespace slmsim
