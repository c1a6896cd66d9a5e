// The scenarios that a verb is given, and words of its options.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/run/choice.h"

namespace slmsim {

struct ScenarioOptions {
  std::vector<std::string> scenarios;
  std::string output;
  Overrides overrides;
};

// --set, as often as wanted.
void add_set_option(CLI::App& verb, Overrides& overrides);

// SCENARIO..., --output and --set.
void add_scenario_options(CLI::App& verb, ScenarioOptions& options);

// All scenarios are read before the first is simulated, so that all their errors are told at once: throws InputError.
std::vector<Scenario> load_all(const ScenarioOptions& options);

// --model, --group and --technique, as often as wanted.
void add_filter_options(CLI::App& verb, Filter& filter);

// load_all, without what is not asked for. What none of the scenarios has is an error that names what there is; a scenario that
// lacks it beside others that do not is left out, and told on standard error. `files` are those of the scenarios that stay.
std::vector<Scenario> load_filtered(const ScenarioOptions& options, const Filter& filter,
                                    std::vector<std::string>* files = nullptr);

// Which of the known words an option's word is. Throws InputError with the nearest one.
std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known);

}  // namespace slmsim
