// Finds the choice with the lowest cost, and others near it.
//
// The scenario's own choices come first, so that no list is worse than these. From its techniques on each group the search
// moves to choices that differ in one column from the best so far, until no neighbour is better; a choice whose bound exceeds
// the last entry of the requested list is ruled out. Then it visits the rest in order of their bounds, for which the bound must
// exceed only the best: the proof. Bounds are QuickBound, by class of choices; OutlineBound, before planning; least_end, before
// simulation. Where every choice is ruled out or simulated, the best is proven. Otherwise the search stops at its effort, which
// counts tasks and not seconds: the result depends only on the input.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/crew/journal.h"
#include "sim/search/evaluate.h"

namespace slmsim {

// Lower bound of the cost of a job of this length: seconds, GPU-hours, dollars, the currency of the VMs, joules. For kDeadline
// see below.
double cost_of(const Space& space, const Choice& choice, PlanObjective objective, Seconds job);

// The cost. For whole jobs it comes from the drawn jobs; for kDeadline it is the number of late ones plus m / (1 + m), with m
// the median length over the lease, which decides between plans with the same number.
double cost_of(const Space& space, const Choice& choice, PlanObjective objective, const Measurement& measured);
// The share of the drawn jobs that end before the lease does, from such a cost.
double on_time(double deadline_cost, int samples);

// Evaluates several choices, given by their numbers, in that order. Empty when stopped.
struct Evaluator {
  std::function<std::vector<Assessment>(const std::vector<std::size_t>&)> assess;
  std::function<std::vector<Measurement>(const std::vector<std::size_t>&)> measure;
};

struct SearchProgress {
  std::size_t choices = 0, assessed = 0, simulated = 0;
  double best = 0;    // cost; 0: none yet
  double effort = 0;  // share of the effort
};

struct SearchOptions {
  PlanObjective objective = PlanObjective::kTime;
  std::size_t list = 5;        // wanted length
  double effort = 0;           // in simulated tasks; 0: without limit
  bool exhaustive = false;     // simulate everything that fits, without bounds
  bool kinds = false;          // seek SearchResult's best of each kind, also where the best of all rules them out
  Shard shard;                 // part of the choices, by number: the others are skipped
  std::function<bool()> stop;  // called now and then
  std::function<void(const SearchProgress&)> progress;
};

struct RankedChoice {
  std::size_t choice = 0;
  Measurement measured;
  double cost = 0;
  std::vector<std::size_t> alike = {};  // in a list: choices with the same cost that it stands for
};

// Choices that cannot run for reasons that differ in numbers only.
struct RefusedChoices {
  std::string reason;  // of the first one
  std::size_t count = 0;
};

struct SearchResult {
  // The cheapest simulated choice on GPUs of one VM with a technique that leaves the training unchanged, the cheapest one on
  // GPUs of several, and the cheapest one on any that leaves the training unchanged.
  std::optional<RankedChoice> one_vm, several_vms, unchanged;
  std::vector<RankedChoice>
      best;  // the cheapest first; of several choices with the same cost on the same GPUs and one technique, the first
  std::size_t choices = 0, assessed = 0, simulated = 0;
  std::size_t unfit = 0;                // do not fit in memory
  std::vector<RefusedChoices> refused;  // cannot run for another reason, the most frequent kind first
  bool proven = false;                  // no other choice is better than the first
  bool stopped = false;                 // by options.stop
  bool given_left = false;              // stopped before the scenario's own choices were tried or ruled out
  bool thinned = false;                 // there were too many groups of GPUs, and some were left out
  double least_left = 0;                // not proven: lower bound of the cost of the unvisited choices
};

SearchResult search(const Space& space, const Evaluator& evaluator, const SearchOptions& options);

}  // namespace slmsim
