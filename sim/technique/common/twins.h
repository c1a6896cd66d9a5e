// Parts of a plan that are equal as a whole, so that the tasks of one represent those of the other (TaskGraph::repeat).
#pragma once

#include <map>
#include <vector>

#include "sim/engine/fold.h"
#include "sim/platform/platform.h"

namespace slmsim {

// Maps the first devices to the second ones at the same positions; empty unless devices at each position have one
// colour and share VMs with others in the same way.
std::map<int, int> twins_of(const Fold& fold, const Platform& platform, const std::vector<int>& first,
                            const std::vector<int>& second);

}  // namespace slmsim
