// Shared by the searches for suggestions: the cheapest offer so far, and the changes that may be offered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/search/suggestion.h"

namespace slmsim {

// The cheapest offer below a cost. One at the edge of memory counts only where the answer is there itself. Jobs are multiplied by
// `factor`.
struct Best {
  double cost = 0;
  bool at_edge = false;
  Objective objective = {};
  double factor = 1;
  std::optional<Suggestion> found = {};
  Overrides change = {};  // the overrides of `found`

  // Whether it is the cheapest so far.
  bool offer(const Prediction& p, const Overrides& set);
};

// The group of these names; nullptr where the scenario lacks it.
const Group* group_of(const Scenario& scenario, const std::vector<std::string>& names);

// Names of the techniques that a scenario may add, in the order of the table: not those of Algorithm 1's trials; and the override
// that takes them in place of its own.
std::vector<std::string> other_techniques(const Scenario& scenario);
Overrides techniques_of(const std::vector<std::string>& names);

// Tasks of a prediction like this one on a group (work_of).
double work_on(const Scenario& scenario, const Prediction& p, const std::vector<std::string>& names);

// Techniques that lack memory, on the same GPUs with more micro-batches, with rematerialisation, or with both; at the edge of
// memory with the next number of micro-batches, too.
void offer_remedies(const RunResult& result, const std::string& name, const VerdictOptions& options,
                    const std::function<void(const Prediction&, const Overrides&)>& offer);

}  // namespace slmsim
