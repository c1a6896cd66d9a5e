// What limits a technique: how much of an iteration each resource would give back if it were infinitely fast.
//
// Every number is a simulation of its own: the same plan, and the same choices of NCCL, with that one resource idealised
// and everything else as it is. What waits behind one limit may wait behind the next, so the numbers need not add up.
// Latency is that of messages where no window binds, since windows wait for the same distance. The pipeline's bubble is no
// resource; its number is that of the breakdown.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/critical_path.h"
#include "sim/predict/predict.h"

namespace slmsim {

struct Limit {
  std::string name;    // "GPU", "window", "wan", "nic:gat", ...
  std::string what;    // what is taken to be without limit
  Seconds given_back;  // of a steady iteration
};

// A change that a person can make, and the prediction with it.
struct WhatIf {
  std::vector<std::string> set;  // each an override: "nccl.NCCL_ALGO=Tree"
  Seconds iteration, job;
};

struct Explanation {
  Prediction prediction;
  // Empty where the prediction is not kOk. The most given back first; what gives back less than a hundredth is left out.
  std::vector<Limit> limits;
  PathLatencies latencies;       // on the critical path
  std::vector<WhatIf> what_ifs;  // that save at least a hundredth, the fastest first
  std::string advice;            // one sentence: what to change first
};

// The scenario with further overrides; nothing where they are refused.
using Reload = std::function<std::optional<Scenario>(const Overrides& more)>;

struct ExplainOptions {
  const Technique* only = nullptr;
  Reload reload;                                              // without it there are no what-ifs
  std::function<void(std::size_t, std::size_t)> on_progress;  // explanations done, of so many
};

// In the order of predict(): model, group, technique.
std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options = {});

}  // namespace slmsim
