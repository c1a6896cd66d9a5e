// The links between sites over a day, as a scenario's job.links states them.
#pragma once

#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

struct LinkState {
  Seconds from;                // time of the day; until the next state
  std::vector<WanLink> links;  // all links of the platform
};

// By time, the first from 0 on; values that are not stated come from the platform. Without job.links, the platform's state
// alone.
std::vector<LinkState> link_states(const Scenario& scenario);

}  // namespace slmsim
