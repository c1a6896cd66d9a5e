// What-if analysis: the limits of a technique, and the changes that would help; each number is a prediction of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/limits.h"
#include "sim/predict/predict.h"

namespace slmsim {

// A change that a user can make, and the prediction with it.
struct WhatIf {
  std::vector<std::string> set;  // overrides: "nccl.NCCL_ALGO=Tree"
  Seconds iteration, job;
};

// "nccl.NCCL_ALGO=Tree --set ...", to follow the first --set on a shell's command line.
std::string set_words(const std::vector<std::string>& set);

struct Explanation {
  Prediction prediction;
  Limits limits;                 // empty where the prediction is not kOk
  std::vector<WhatIf> what_ifs;  // those that save at least a hundredth, the fastest first
  std::string advice;            // one sentence: the first change to make and its gain
};

// The scenario with further overrides; nothing where they are invalid.
using Reload = std::function<std::optional<Scenario>(const Overrides& more)>;

struct ExplainOptions {
  const Technique* only = nullptr;
  bool in_depth = true;  // find_limits()
  Reload reload = {};    // absent: no what-ifs
  // Arguments: explanations done, their total, and simulated cases of the current one.
  std::function<void(std::size_t, std::size_t, std::size_t)> on_progress = {};
  std::function<bool()> stop = {};  // called between cases; throws Stopped where it returns true
  bool partial = false;             // when stopped, return the finished explanations instead of throwing
};

// In the order of predict(): model, group, technique.
std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options = {});

// Changes that a user could make to speed up a technique, as overrides of the scenario.

// For a prediction that runs: kernel settings of its VMs, NCCL's settings, a compiler or flash attention where the stack has
// them, the number of micro-batches.
std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group);

// The group with its VMs in another order, which rings and pipelines follow: every order of up to four VMs; for more, the
// reverse and each swap of two neighbours.
std::vector<Group> other_orders(const Platform& platform, const Group& group);

}  // namespace slmsim
