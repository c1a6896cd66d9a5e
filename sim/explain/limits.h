// How much of an iteration each resource would give back if it were infinitely fast: alone, in pairs that hide each other,
// and one after the other until most of the time is accounted for.
//
// Every number is a simulation of its own: the same plan, and the same choices of NCCL, with those resources idealised and
// everything else as it is. What waits behind one limit may wait behind the next, so the numbers of single ones need not
// add up; those in turn do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/explain/critical_path.h"
#include "sim/explain/ideal.h"

namespace slmsim {

struct Limit {
  std::string name;    // "GPU", "window", "wan", "nic:gat", ...
  std::string what;    // what is taken to be without limit
  Seconds given_back;  // of a steady iteration
};

// Two that hide each other: together they give back at least a tenth of an iteration more than the two of them alone, where one
// that alone makes it longer counts as nothing.
struct LimitPair {
  std::string first, second;
  Seconds alone_first, alone_second, together;
};

// Without the limits before it in the list, and now without this one too. Two at once where neither helps alone.
struct LimitInTurn {
  std::vector<std::string> names;
  Seconds given_back;  // beyond those before
};

struct Limits {
  // What gives back less than a hundredth is left out everywhere. The most given back first.
  // Latency's is beside the window, since windows wait for the same distance.
  std::vector<Limit> single;
  std::vector<LimitPair> pairs;      // the most first
  std::vector<LimitInTurn> in_turn;  // the greatest of what is left next, until a tenth is left
  Seconds left;                      // what an iteration takes without all of them
  PathLatencies latencies;           // on the critical path
};

// `in_depth`: pairs and in_turn too, which take some ten simulations more. `told`, where it is not empty, hears every now and
// then how many there were.
Limits find_limits(const Scenario& scenario, const Transformer& model, const Prediction& prediction, bool in_depth,
                   const std::function<void(std::size_t)>& told = {});

}  // namespace slmsim
