// Candidate groups of GPUs for a job, and the orders of their VMs.
#pragma once

#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// Platforms up to this size are searched GPU by GPU, larger ones VM by VM.
inline constexpr std::size_t kMostGpusOneByOne = 8;

// A set of GPUs with an order of their VMs. Only pipelines distinguish an order from its reverse or from a rotation of the
// ring.
struct OrderedGroup {
  Group group;
  bool pipelines_only = false;
  bool reordered = false;  // the same GPUs precede it in the platform's order
};

struct SearchedGroups {
  std::vector<OrderedGroup> groups;
  bool all = true;  // false: there are more than kMostGroups, and some were left out
};

// Subsets: equal VMs (site, type, GPUs; by value, whatever their names) count by number only; so do equal GPUs in a VM (one
// kind, in exchangeable places), where VM by VM searches take all of them, or 1, 2, 4, ... of a single VM.
// Orders: every order of up to four VMs, which differ in more than an exchange of equal VMs with equally many GPUs; beyond that the VMs of a site stay together, with every order of up to four sites. The
// whole platform in its own order comes first. Where that is too much, equal VMs are taken none, 1, 2, 4, ... or all; where it
// still is, the subsets that take, or leave out, the fewest kinds of VMs.
SearchedGroups groups_to_search(const Platform& platform);

}  // namespace slmsim
