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

}  // namespace slmsim
