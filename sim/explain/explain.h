// What limits a technique, and which changes that a person can make would help: each number is a prediction of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/limits.h"
#include "sim/predict/predict.h"

namespace slmsim {

// A change that a person can make, and the prediction with it.
struct WhatIf {
  std::vector<std::string> set;  // each an override: "nccl.NCCL_ALGO=Tree"
  Seconds iteration, job;
};

// "nccl.NCCL_ALGO=Tree --set ...", behind the first --set of a shell's command line.
std::string set_words(const std::vector<std::string>& set);

struct Explanation {
  Prediction prediction;
  Limits limits;                 // empty where the prediction is not kOk
  std::vector<WhatIf> what_ifs;  // that save at least a hundredth, the fastest first
  std::string advice;            // one sentence: what to change first and what it buys
};

// The scenario with further overrides; nothing where they are refused.
using Reload = std::function<std::optional<Scenario>(const Overrides& more)>;

struct ExplainOptions {
  const Technique* only = nullptr;
  bool in_depth = true;  // find_limits()
  Reload reload = {};    // without it there are no what-ifs
  // Explanations done, of so many, and how many cases of the next one were simulated.
  std::function<void(std::size_t, std::size_t, std::size_t)> on_progress = {};
  std::function<bool()> stop = {};  // asked between cases; throws Stopped where it says so
  bool partial = false;             // then returns what is explained by then, in place of throwing
};

// In the order of predict(): model, group, technique.
std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options = {});

}  // namespace slmsim
