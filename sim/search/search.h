// Finds the choices that cost least.
//
// First comes what the scenario itself asks for, so that no list is worse than that. From its techniques on each group the
// search goes to what differs in one thing from the best so far, until nothing near them is better; then it goes through all
// that is left, the least bound first. A choice whose bound is above the last of the list that is asked for is ruled out: by
// QuickBound before it is planned, by least_end before it is simulated. Where everything is ruled out or simulated, the list is proven. Else the search ends with its effort, which counts tasks
// and not seconds: the result depends on nothing but the input.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/crew/journal.h"
#include "sim/search/evaluate.h"

namespace slmsim {

// What a job of this length costs at least: seconds, GPU-hours, dollars, the currency of the VMs, joules. Of kDeadline see
// below.
double cost_of(const Space& space, const Choice& choice, PlanObjective objective, Seconds job);

// What it costs. Of whole jobs what was drawn says; of kDeadline: how many of the jobs drawn are late, and on top of that, below
// one, m / (1 + m) of the median length over the lease, which decides between plans that are late as often.
double cost_of(const Space& space, const Choice& choice, PlanObjective objective, const Measured& measured);
// The share of the jobs drawn that end before the lease does, of such a cost.
double on_time(double deadline_cost, int samples);

// Who finds out about several choices, given by their numbers; the answers come in that order. Empty where it was stopped.
struct Evaluator {
  std::function<std::vector<Assessed>(const std::vector<std::size_t>&)> assess;
  std::function<std::vector<Measured>(const std::vector<std::size_t>&)> measure;
};

struct SearchProgress {
  std::size_t choices = 0, assessed = 0, simulated = 0;
  double best = 0;    // cost; 0: none yet
  double effort = 0;  // share of what may be spent
};

struct SearchOptions {
  PlanObjective objective = PlanObjective::kTime;
  std::size_t list = 5;        // so many are wanted
  double effort = 0;           // in tasks simulated; 0: without limit
  bool exhaustive = false;     // simulate all that fit, without bounds
  Shard shard;                 // of the choices, by their numbers: the others are not looked at
  std::function<bool()> stop;  // asked every now and then
  std::function<void(const SearchProgress&)> progress;
};

struct Found {
  std::size_t choice = 0;
  Measured measured;
  double cost = 0;
};

struct SearchResult {
  // Of what was simulated, the least cost on GPUs of one VM, by a technique that leaves the training as it is, and on GPUs
  // of several.
  std::optional<Found> one_vm, several_vms;
  std::vector<Found>
      best;  // the least cost first; of several that cost the same on the same GPUs with one technique, the first
  std::size_t choices = 0, assessed = 0, unfit = 0, simulated = 0;
  bool proven = false;    // nothing else can be better
  bool stopped = false;   // by options.stop
  bool thinned = false;   // there were more groups of GPUs than could be looked at
  double least_left = 0;  // not proven: bound of the cost of what was not looked at
};

SearchResult search(const Space& space, const Evaluator& evaluator, const SearchOptions& options);

}  // namespace slmsim
