// Which scenario is meant, and what of it is asked for.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// A scenario's file: the word itself, or where it is the name of a shipped scenario and no file here, that one's.
std::string scenario_file(const std::string& word);

// Throws InputError where a key has two values: the first would do nothing.
void refuse_twice_overridden(const Overrides& overrides);

// Models, groups ("gat+amst", in any order, or "all") and techniques by their names; empty: all.
struct Filter {
  std::vector<std::string> models, groups, techniques;
};

// Leaves of the scenario what is asked for. What it lacks comes back, in a sentence that names what it has; empty where it
// has all that is asked for.
std::string narrow(Scenario& scenario, const Filter& filter);

}  // namespace slmsim
