// Time that an iteration would give back if a resource were infinitely fast: for each resource alone, in pairs that hide each
// other, and one after the other until most of the time is explained.
//
// Every number is a separate simulation: the same plan and the same choices of NCCL, with those resources idealised and the
// rest unchanged. Work that waits behind one limit may wait behind the next, so the numbers of single resources need not add
// up; those in turn do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/explain/ideal.h"

namespace slmsim {

// The critical path: the chain of tasks that an iteration's end waited for, and the latencies on it.

// From the first task to the one that finished last: each began when the one before it was done, or when that one's last byte
// left the connection that both use.
std::vector<TaskId> critical_path(const TaskGraph& graph, const Timeline& timeline);

// Latencies of transfers on the path whose arrival the next task waited for.
struct PathLatencies {
  int between_vms = 0, inside_vms = 0;
  Seconds sum;
};
PathLatencies latencies_of(const TaskGraph& graph, const Timeline& timeline, const std::vector<TaskId>& path);

struct Limit {
  std::string name;    // "GPU", "window", "wan", "nic:gat", ...
  std::string what;    // description of the unlimited resource
  Seconds given_back;  // of a steady iteration
};

// Two that hide each other: together they give back at least a tenth of an iteration more than both alone; one that alone makes
// the iteration longer counts as zero.
struct LimitPair {
  std::string first, second;
  Seconds alone_first, alone_second, together;
};

// Removed in addition to those before it in the list. Two at once where neither helps alone.
struct CumulativeLimit {
  std::vector<std::string> names;
  Seconds given_back;  // beyond the ones before
};

struct Limits {
  // The largest first; resources that give back less than a hundredth are left out. Latency is listed beside the window,
  // because windows depend on the same distance.
  std::vector<Limit> single;
  std::vector<LimitPair> pairs;          // the largest first
  std::vector<CumulativeLimit> in_turn;  // the largest of the rest next, until a tenth is left
  Seconds left;                          // iteration time without all of them
  PathLatencies latencies;               // on the critical path
};

// `in_depth`: pairs and in_turn too, which take about ten more simulations. `told`, if set, is called periodically with the
// number of simulations.
Limits find_limits(const Scenario& scenario, const Transformer& model, const Prediction& prediction, bool in_depth,
                   const std::function<void(std::size_t)>& on_progress = {});

}  // namespace slmsim
