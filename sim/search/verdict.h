// The first facts of a result, per model: the best choice and how sure it is, a change that would be faster, one that would fit,
// the assumption that moves the time most, and the nearest cluster with measurements. `slmsim run`, `report` and `serve` print
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/explain/explain.h"
#include "sim/predict/result.h"

namespace slmsim {

// A change of the scenario and the best choice with it.
struct Suggestion {
  std::string command;  // words after `slmsim run SCENARIO`: "--set software.stack=compiled"
  std::string choice;   // "FSDP on cloud"
  Seconds job;
};

// The assumed value whose uncertainty moves the best choice's job most.
struct KeyAssumption {
  std::string value;    // "link wan: loss 1.2e-5"
  Interval job;         // in seconds, at both ends of the value's interval
  std::string measure;  // the program that measures it; empty: only the user knows it
};

// The validated cluster nearest to the scenario's, by the features that docs/validation/README.md lists.
struct NearestValidated {
  std::string name;                  // "two FABRIC sites over TCP"
  std::string page;                  // "docs/validation/fabric.md"
  double error = 0;                  // median absolute relative error of its times
  double distance = 0;               // 0: equal features
  std::vector<std::string> outside;  // features beyond the range of all validated clusters: "3 sites"
};

struct Verdict {
  std::string model;
  std::optional<std::size_t> best;   // index in RunResult::predictions of the scenario's pick; none: nothing runs
  std::vector<std::size_t> as_good;  // others within the selection's delta, the fastest first
  double level = 0.8;
  std::optional<Interval> job;  // of the best choice, in seconds, at that level
  std::optional<double> right;  // probability that nothing beats it by more than delta
  std::optional<double> fits;   // probability that it fits in memory
  std::optional<Suggestion> faster;
  std::optional<Suggestion> would_fit;  // only where nothing runs
  std::optional<KeyAssumption> key_assumption;
  std::optional<NearestValidated> nearest;
};

struct VerdictOptions {
  Reload reload;                    // absent: no suggestions
  std::function<bool()> stop = {};  // called now and then; true: the remaining facts stay empty
};

// One per model, in the scenario's order. Uses result.uncertainty where it is present, and otherwise a few draws.
std::vector<Verdict> verdicts_of(const RunResult& result, const VerdictOptions& options);

}  // namespace slmsim
