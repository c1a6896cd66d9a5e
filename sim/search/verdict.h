// The first facts of a result, per model: the best choice and how sure it is, a change that would be faster, one that would fit,
// the assumption that moves the time most, and the nearest cluster with measurements. `slmsim run`, `report` and `serve` print
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/explain/explain.h"
#include "sim/fit/unknown.h"
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
  std::vector<std::size_t> as_good;  // others within the selection's delta, also in GPU-hours, the fastest first
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
  Reload reload = {};                  // absent: no draws, no suggestions, no key assumption
  std::function<bool()> stop = {};     // called now and then; true: the remaining facts stay empty
  std::vector<Unknown> unknowns = {};  // of the scenario, with their priors; none: no draws and no key assumption
  bool of_groups = false;              // the filter names groups of GPUs
  std::size_t threads = 1;             // more than one: `reload` is called from several at once
};

// Options for a scenario of a file or a text, with the user's overrides and filter. `reload` may be called from several threads.
// Throws InputError where the scenario is invalid.
VerdictOptions verdict_options_of(const ScenarioFile& file, const Overrides& set, const Filter& filter = {});

// One per model, in the scenario's order. `job`, `right` and `fits` come from result.uncertainty where it is present. Otherwise
// they come from a few draws of the unknowns' priors, on the pick and its closest rivals only. The draws cost at most about twice
// the run itself, by a count of tasks, and are left out where that allows too few. The result depends on the input alone.
//
// The prediction uses the centre of each prior, and the interval is one of the outcomes of the draws. Most unknowns slow a job
// down more easily than they speed it up, so that the centre may lie near the interval's lower end; where it lies outside, the
// interval is widened to contain it.
std::vector<Verdict> verdicts_of(const RunResult& result, const VerdictOptions& options = {});

}  // namespace slmsim
