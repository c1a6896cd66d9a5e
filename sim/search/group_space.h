// Which GPUs a job could run on, and in which order.
#pragma once

#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// Platforms of up to so many GPUs are searched GPU by GPU, larger ones VM by VM.
inline constexpr std::size_t kMostGpusOneByOne = 8;

// A choice of GPUs in an order of their VMs. Only pipelines tell an order from its reverse or from one that begins
// elsewhere in the ring.
struct OrderedGroup {
  Group group;
  bool pipelines_only = false;
};

struct SearchedGroups {
  std::vector<OrderedGroup> groups;
  bool all = true;  // else there are more than kMostGroups, and some were left out
};

// Subsets: of VMs that are alike (site, type, GPUs; by their values, whatever their names) only how many; of GPUs that are
// alike in a VM (one kind, and in places that could be exchanged) only how many, in VM by VM searches all of them, or of a
// single VM 1, 2, 4, ...
// Orders: every order of up to four VMs; of more the VMs of a site follow one another, with every order of up to four
// sites. The whole platform in its own order comes first. Where that is too much, of alike VMs none, 1, 2, 4, ... or all, and
// where that still is, those subsets that take, or leave out, the fewest kinds of VMs.
SearchedGroups groups_to_search(const Platform& platform);

}  // namespace slmsim
