// A verb's scenarios, and words of its options.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/scenario/choice.h"

namespace slmsim {

struct ScenarioOptions {
  std::vector<std::string> scenarios;
  std::string output;
  Overrides overrides;
};

// --set, repeatable.
void add_set_option(CLI::App& verb, Overrides& overrides);

// SCENARIO..., --output and --set.
void add_scenario_options(CLI::App& verb, ScenarioOptions& options);

// All scenarios are read before the first is simulated, so that all their errors are reported at once: throws InputError.
std::vector<Scenario> load_all(const ScenarioOptions& options);

// --model, --group and --technique, repeatable.
void add_filter_options(CLI::App& verb, Filter& filter);

// load_all, reduced to the requested parts. A name that no scenario has is an error that lists the existing names; a scenario
// that lacks it while others have it is skipped with a warning on standard error. `files` are those of the remaining scenarios.
std::vector<Scenario> load_filtered(const ScenarioOptions& options, const Filter& filter,
                                    std::vector<std::string>* files = nullptr);

// The index of an option's word among the known words. Throws InputError with the nearest one.
std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known);

}  // namespace slmsim
