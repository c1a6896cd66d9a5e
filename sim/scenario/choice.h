// The scenario that a word names, and filters on its contents.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// A scenario's file: the word itself, or the shipped scenario of this name where no such file exists.
std::string scenario_file(const std::string& word);

// Throws InputError where a key has two values: the first would have no effect.
void refuse_twice_overridden(const Overrides& overrides);

// Models, groups ("gat+amst", in any order, or "all") and techniques by their names; empty: all.
struct Filter {
  std::vector<std::string> models, groups, techniques;
};

// Reduces the scenario to what the filter names. Returns a sentence on names that it lacks, with those it has; empty where it
// has all.
std::string narrow(Scenario& scenario, const Filter& filter);

}  // namespace slmsim
