// Which parts of a plan are equal as a whole, so that the tasks of one stand for those of the other (TaskGraph::repeat).
#pragma once

#include <map>
#include <vector>

#include "sim/graph/fold.h"
#include "sim/platform/platform.h"

namespace slmsim {

// The second devices by the first ones in their places; empty unless those of a place have one colour and share VMs with
// others as these do.
std::map<int, int> twins_of(const Fold& fold, const Platform& platform, const std::vector<int>& first,
                            const std::vector<int>& second);

}  // namespace slmsim
